// How a browser is signed in, what its cookie is worth to others, and what counts as having seen a question.

import assert from "node:assert/strict";
import { access, stat } from "node:fs/promises";
import { createServer, request } from "node:http";

import { until, user } from "./server.mjs";

const body = "application/x-www-form-urlencoded";

/** Sends raw bytes to the server, as a program that made up every header. */
function raw(server, method, path, headers, text = "") {
  const { port } = new URL(server.address);
  return new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, method, path, headers: { ...headers, "content-length": Buffer.byteLength(text) } }, async (response) => {
      response.setEncoding("utf8");
      resolve({ status: response.statusCode, text: (await response.toArray()).join("") });
    });
    sent.on("error", reject).end(text);
  });
}

/** Runs a web server of somebody else at another port of this machine, which notes what browsers send it. */
async function somebodyElse(page) {
  const cookies = [];
  const other = createServer((asked, response) => {
    cookies.push(asked.headers.cookie ?? "");
    response.setHeader("content-type", "text/html");
    response.end(page);
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  return { cookies, port: other.address().port, close: () => other.close() };
}

export async function a_file_signs_in_once_and_is_gone({ server, arrive }) {
  const { file, code } = await server.file();
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const visitor = await arrive({ expects: [/request to file:/] });
  const { page } = visitor;
  const asked = [];
  page.on("request", (one) => asked.push(one.url()));
  // It goes on by itself.
  await page.goto(`file://${file}`, { waitUntil: "commit" });
  await page.getByText("You sign in as").waitFor();
  assert.match(await page.locator("main").innerText(), new RegExp(`You sign in as ${user} \\(operator\\)`));
  await page.getByRole("button", { name: "Sign in" }).click();
  await visitor.arrives(page.getByRole("heading", { name: "Waiting for me", level: 1 }));
  assert.ok(asked.length > 2 && asked.every((url) => !url.includes(code)), "no address has the code");
  await assert.rejects(access(file), "it is of no use any more");
  const second = await arrive({ expects: [/status of 401/] });
  await second.go("/sign-in");
  await second.page.getByLabel("Code").fill(code);
  await second.page.getByRole("button", { name: "Sign in" }).click();
  await second.page.getByRole("heading", { name: "This code signs nobody in" }).waitFor();
}

export async function a_file_has_a_button_where_no_script_runs({ server, arrive }) {
  const { file } = await server.file();
  const { page } = await arrive({ javaScriptEnabled: false, expects: [/request to file:/] });
  // It goes on by itself.
  await page.goto(`file://${file}`, { waitUntil: "commit" });
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Waiting for me", level: 1 }).waitFor();
}

export async function pages_asked_for_at_localhost_lead_to_their_own_name({ server, arrive }) {
  const visitor = await arrive({ expects: [/status of 401/, /request to http:\/\/localhost/] });
  await visitor.signIn();
  await visitor.page.goto(`${server.address}/settings`);
  assert.equal(visitor.page.url(), `${server.origin}/settings`, "and the browser resolves it by itself");
  await visitor.page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  const cookies = await visitor.context.cookies();
  assert.deepEqual(cookies.map(({ domain, httpOnly, sameSite }) => [domain, httpOnly, sameSite]), [["demur.localhost", true, "Lax"]]);
}

/** ONE-11: a program at another port of the same name is sent the cookie by the browser; it is worth no act. */
export async function another_port_gets_the_cookie_and_changes_nothing_with_it({ server, arrive }) {
  const visitor = await arrive({ expects: [/request to/, /ERR_|Failed to load|CORS|blocked|Refused|status of/] });
  await visitor.signIn();
  const { page } = visitor;
  await page.goto("about:blank");
  const id = await server.ask("Which branch?");
  const there = await somebodyElse(`<!doctype html><title>x</title><img src="${server.origin}/questions/${id}">
    <form method="post" action="${server.origin}/questions/${id}/answer" target="frame"><input name="text" value="mine"><input name="form_key" value=""></form>
    <iframe name="frame"></iframe>`);
  await page.goto(`http://localhost:${there.port}/`);
  assert.ok(there.cookies.every((cookie) => !cookie.includes("demur_session")), "at localhost it gets none");
  await page.goto(`http://demur.localhost:${there.port}/`);
  const stolen = there.cookies.find((cookie) => cookie.includes("demur_session"));
  assert.ok(stolen, "cookies know no ports");
  // What its page can do in the browser.
  await page.evaluate(() => document.forms[0].submit());
  const told = await page.evaluate(async ([origin, id]) => {
    const send = (path, more) => fetch(origin + path, { method: "POST", credentials: "include", ...more }).then((one) => one.type, (error) => error.name);
    const form = new URLSearchParams({ question: id, level: "normal", form_key: "" });
    return [await send("/shown", { body: form, mode: "no-cors" }), await send(`/v1/questions/${id}/answer`, { headers: { "content-type": "application/json", "demur-form-key": "" }, body: '{"answer":"mine"}' })];
  }, [server.origin, id]);
  assert.deepEqual(told, ["opaque", "TypeError"]);
  // What its process can do with what it was sent: look, but not change anything, whatever headers it makes up.
  const own = { host: new URL(server.origin).host, origin: server.origin, cookie: stolen, "sec-fetch-site": "same-origin", "content-type": body };
  const looked = await raw(server, "GET", `/questions/${id}`, own);
  assert.equal(looked.status, 200, "it looks: docs/inbox.md says so");
  const keys = [...looked.text.matchAll(/name="form_key" value="([^"]*)"/g)].map(([, key]) => key);
  const bound = looked.text.match(/data-bound="([0-9a-f]{64})"/)[1];
  for (const key of [...new Set([...keys, bound, ""])]) {
    for (const path of [`/questions/${id}/answer`, "/shown", "/settings", "/sessions/end", "/sign-out"]) {
      const sent = new URLSearchParams({ form_key: key, act: "answer", text: "mine", question: id, level: "normal", all: "yes" });
      const { status } = await raw(server, "POST", path, own, String(sent));
      assert.equal(status, 403, path);
    }
    const answer = await raw(server, "POST", `/v1/questions/${id}/answer`, { ...own, "content-type": "application/json", "demur-form-key": key }, '{"answer":"mine"}');
    assert.equal(answer.status, 403);
  }
  there.close();
  assert.equal((await server.question(id)).state, "open");
  assert.equal(await server.events(id), 1, "nor is anything on record as shown");
  // The page itself still does everything.
  await visitor.go(`/questions/${id}`);
  await page.getByLabel("Your answer").fill("main");
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Your answer is on record").waitFor();
}

/** ONE-03: on record once it was before somebody's eyes for a second, and not before. */
export async function a_question_is_shown_when_it_was_before_the_eyes({ server, signedIn }) {
  const visitor = await signedIn();
  const { page } = visitor;
  const shown = [];
  page.on("request", (one) => one.url().endsWith("/shown") && shown.push(new URLSearchParams(one.postData()).getAll("question")));
  await page.evaluate(() => Object.defineProperty(document, "hasFocus", { value: () => false }));
  const ids = [];
  for (const words of ["First?", "2?", "3?", "4?", "5?", "6?", "7?", "8?", "Last?"]) ids.push(await server.ask(words, { context: "Much to read. ".repeat(200) }));
  await page.getByRole("heading", { name: "Last?" }).waitFor({ state: "attached" });
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  assert.deepEqual(shown, [], "not in a window that nobody looks at");
  await visitor.go("/");
  await until("the first one is on record", async () => (await server.events(ids[0])) === 2);
  const last = await page.getByRole("heading", { name: "Last?" }).boundingBox();
  assert.ok(last.y > 800, "it is below the fold");
  assert.equal(await server.events(ids.at(-1)), 1);
  await page.getByRole("heading", { name: "Last?" }).scrollIntoViewIfNeeded();
  await until("the last one is on record", async () => (await server.events(ids.at(-1))) === 2);
  await visitor.go("/");
  await page.getByRole("heading", { name: "First?" }).waitFor();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1500)));
  assert.equal(await server.events(ids[0]), 2, "once");
}

export async function sessions_are_seen_and_ended_in_the_settings({ server, signedIn }) {
  const visitor = await signedIn();
  const other = await signedIn({ userAgent: "<b>Strange</b> browser", expects: [/status of 401/, /EventSource|Failed to load/] });
  const { page } = visitor;
  await visitor.go("/settings");
  const table = page.getByRole("region", { name: "Signed-in browsers" });
  assert.equal(await table.getByRole("row").count(), 3);
  assert.ok(await table.getByText("<b>Strange</b> browser").isVisible(), "what it calls itself is text");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await visitor.fitsAcross(`settings, ${width}`);
      await visitor.isAccessible(`settings, ${colorScheme}, ${width}`);
      await visitor.picture(`sessions-${colorScheme}-${width}`);
    }
  }
  await table.getByRole("row", { name: /Strange/ }).getByRole("button").click();
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await until("one is left", async () => (await page.getByRole("region", { name: "Signed-in browsers" }).getByRole("row").count()) === 2);
  assert.equal((await other.go("/")).status(), 401);
}

export async function an_operator_looks_after_people_on_a_page({ server, arrive }) {
  await server.demur("people", "add", "olga", "--role", "operator");
  const { port } = new URL(server.address);
  await server.stop();
  // As a proxy on this machine would be reached.
  await server.resume("--port", port, "--public-url", `http://localhost:${port}`);
  assert.equal(server.origin, `http://localhost:${port}`);
  const visitor = await arrive();
  await visitor.signIn("--as", "olga");
  const { page } = visitor;
  await page.getByRole("link", { name: "People" }).click();
  await page.getByRole("heading", { name: "People", level: 1 }).waitFor();
  const adding = page.locator("form[action='/people/add']");
  await adding.getByLabel("Name").fill("Ines (audit)");
  await adding.getByRole("radio", { name: /auditor/ }).check();
  await adding.getByRole("button").click();
  await page.getByRole("button", { name: "Make a sign-in code: Ines (audit)" }).click();
  const made = page.locator(".notice");
  await made.getByText("It is shown once.").waitFor();
  assert.ok(!page.url().includes("-"), page.url());
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await visitor.fitsAcross(`people, ${width}`);
      await visitor.isAccessible(`people, ${colorScheme}, ${width}`);
      await visitor.hasLargeTargets(`people, ${width}`);
      await visitor.picture(`people-${colorScheme}-${width}`);
    }
  }
  const code = await made.locator("code").last().innerText();
  const other = await arrive();
  await other.go("/sign-in");
  await other.page.getByLabel("Code").fill(code);
  await other.page.getByRole("button", { name: "Sign in" }).click();
  await other.page.getByText("Ines (audit)").first().waitFor();
  assert.equal(await other.page.getByRole("link", { name: "People" }).count(), 0);
}
