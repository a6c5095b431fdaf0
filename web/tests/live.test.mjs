// What an open page does by itself: it shows what happens, says it once, and never takes focus or words away.

import assert from "node:assert/strict";

import { until } from "./server.mjs";

export async function a_question_arrives_without_taking_focus_or_words({ server, signedIn }) {
  await server.ask("The first one?");
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.isLive();
  assert.equal(await page.title(), "(1) Waiting for me · demur");
  const field = page.getByLabel("Your answer");
  await field.pressSequentially("half a thou");
  const before = await field.boundingBox();
  const id = await server.ask("The second one?", { severity: "warn" });
  await page.getByRole("heading", { name: "The second one?" }).waitFor();
  assert.ok(await field.first().evaluate((element) => element === document.activeElement), "focus stays");
  await page.keyboard.type("ght");
  assert.equal(await field.first().inputValue(), "half a thought");
  assert.deepEqual(await field.first().boundingBox(), before, "nothing moves");
  const shown = await page.locator("article.question").evaluateAll((all) => all.map((one) => one.dataset.question));
  assert.equal(shown.at(-1), id, "it stands at the end");
  assert.equal(await page.title(), "(2) Waiting for me · demur");
  await visitor.hears("1 new");
}

export async function the_first_question_ends_the_empty_list({ server, signedIn }) {
  const visitor = await signedIn();
  await visitor.isLive();
  await visitor.page.getByText("Nothing waits for you").waitFor();
  await server.ask("Anybody there?");
  await visitor.page.getByRole("heading", { name: "Anybody there?" }).waitFor();
  await visitor.page.getByText("Nothing waits for you").waitFor({ state: "detached" });
  await visitor.page.getByLabel("Your answer").fill("Yes");
  await visitor.page.getByRole("button", { name: "Review, then send" }).click();
  await visitor.page.getByRole("button", { name: "Send" }).waitFor();
}

export async function a_burst_is_said_once({ server, signedIn }) {
  const visitor = await signedIn();
  const { page } = visitor;
  // However busy the machine is, the second in which things are gathered ends when the test says so.
  await page.clock.install();
  await visitor.go("/");
  await visitor.isLive();
  await page.clock.pauseAt(Date.now() + 5000);
  const heard = (count) => page.waitForFunction((count) => window.heard.filter((name) => name === "asked").length === count, count);
  const ask = (number) => server.ask(`Question ${number}?`, { severity: number === 3 ? "block" : "warn" });
  await Promise.all([1, 2, 3, 4].map(ask));
  await heard(4);
  assert.deepEqual(await visitor.said(), []);
  await page.clock.runFor(2000);
  await page.waitForFunction(() => document.querySelectorAll("article.question").length === 4);
  await server.ask("Another?", { severity: "warn" });
  await heard(5);
  await page.clock.runFor(2000);
  assert.deepEqual(await visitor.said(), ["4 new, 1 must be answered", "1 new"]);
}

export async function what_others_settle_goes_quietly_and_typed_words_stay({ server, signedIn }) {
  const [left, typed] = [await server.ask("Left alone?"), await server.ask("Being typed?")];
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.isLive();
  const article = (id) => page.locator(`article[data-question="${id}"]`);
  await article(typed).getByLabel("Your answer").pressSequentially("mine");
  await server.answer(left, "done");
  await article(left).getByText("Answered", { exact: true }).waitFor();
  assert.equal(await article(left).getByRole("textbox").count(), 0, "nothing can be typed there any more");
  await server.answer(typed, "theirs");
  await article(typed).getByText("Your words here are kept").waitFor();
  await article(typed).getByText("Answered", { exact: true }).waitFor();
  assert.equal(await article(typed).getByLabel("Your answer").inputValue(), "mine");
  assert.ok(await article(typed).getByLabel("Your answer").evaluate((element) => element === document.activeElement));
  await visitor.hears("Your words here are kept");
  const said = await visitor.said();
  assert.equal(said.filter((text) => text.includes("1 settled")).length, 1, said.join(" / "));
  assert.match(said.join(), /Answered by Ada/);
}

export async function the_page_of_a_question_follows_it({ server, signedIn }) {
  const id = await server.ask("Still open?", { timeout_seconds: 600 });
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.go(`/questions/${id}`);
  await visitor.isLive();
  const rows = await page.locator(".history tbody tr").count();
  await server.answer(id, "no");
  await page.getByText("This question is settled").waitFor();
  await page.getByRole("heading", { name: "Other ways to deal with it" }).waitFor({ state: "detached" });
  assert.ok((await page.locator(".history tbody tr").count()) > rows, "its history grows");
}

export async function time_runs_in_silence_and_is_said_at_half_and_at_a_tenth({ server, signedIn }) {
  const visitor = await signedIn();
  const { page } = visitor;
  await page.clock.install();
  await server.ask("How long?", { timeout_seconds: 1000 });
  await visitor.go("/");
  const left = page.locator(".deadline .left");
  assert.equal(await left.textContent(), "in 16 minutes");
  await page.clock.runFor(400_000);
  assert.match(await left.textContent(), /^in (9|10) minutes$/);
  assert.deepEqual(await visitor.said(), []);
  await page.clock.runFor(110_000);
  assert.deepEqual(await visitor.said(), ["Half of the time is over: How long?"]);
  await page.clock.runFor(300_000);
  await page.clock.runFor(100_000);
  assert.deepEqual((await visitor.said()).slice(1), ["A tenth of the time is left: How long?"]);
  await page.clock.runFor(60_000);
  assert.match(await left.textContent(), /^in \d+ seconds?$/);
  assert.equal((await visitor.said()).length, 2, "and never again");
}

export async function a_lost_connection_is_said_and_nothing_is_missed({ server, signedIn }) {
  const visitor = await signedIn({ expects: [/ERR_|Failed to load/] });
  const { page } = visitor;
  await visitor.isLive();
  await server.stop();
  await page.getByText("Not live: reconnecting").waitFor();
  await server.resume();
  await server.ask("Meanwhile?");
  await page.getByRole("heading", { name: "Meanwhile?" }).waitFor();
  await page.getByText("Not live: reconnecting").waitFor({ state: "detached" });
}

export async function the_end_of_a_session_is_said({ server, signedIn }) {
  const visitor = await signedIn({ expects: [/401|EventSource|Failed to load/] });
  await visitor.isLive();
  await server.signEverybodyOut();
  await server.ask("Not for you?");
  await visitor.page.getByText("You are signed out").first().waitFor();
  assert.equal(await visitor.page.getByText("Not for you?").count(), 0);
}

export async function all_tabs_share_one_connection({ server, signedIn }) {
  const visitor = await signedIn();
  await visitor.isLive();
  const lines = [];
  visitor.context.on("request", (request) => request.url().endsWith("/live") && lines.push(request.url()));
  const tabs = [];
  for (let count = 0; count < 7; count++) {
    const page = await visitor.newPage();
    await page.goto(server.origin);
    tabs.push(page);
  }
  await server.ask("Everywhere?");
  for (const page of tabs) await page.bringToFront().then(() => page.getByRole("heading", { name: "Everywhere?" }).waitFor());
  assert.deepEqual(lines, [], "more tabs need no more connections");
  await visitor.page.close();
  await until("another tab takes over", async () => lines.length === 1);
}

export async function a_page_is_light({ server, signedIn }) {
  for (let number = 0; number < 20; number++) {
    await server.ask(`Question ${number}?`, { context: "Some context. ".repeat(20), choices: [{ value: "a", label: "One" }, { value: "b", label: "Two" }] });
  }
  const visitor = await signedIn();
  const load = (path) => visitor.page.evaluate(async (path) => (await fetch(path)).text(), path);
  const page = await load("/");
  const assets = [...new Set(page.match(/\/assets\/[\w.]+/g))];
  const weights = Object.fromEntries(await Promise.all(assets.map(async (path) => [path, (await load(path)).length])));
  const told = `${page.length} ${JSON.stringify(weights)}`;
  assert.ok(weights["/assets/demur.css"] < 20_000 && weights["/assets/demur.js"] < 24_000, told);
  assert.ok(Object.values(weights).reduce((sum, one) => sum + one, page.length) < 100_000, told);
}

export async function an_answer_that_is_replaced_or_taken_back_shows_on_its_page({ server, signedIn }) {
  const id = await server.ask("Which colour?");
  await server.answer(id, "blue");
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.go(`/questions/${id}`);
  await visitor.isLive();
  await page.getByText("blue", { exact: true }).first().waitFor();
  await server.call("PUT", `/v1/questions/${id}/answer`, server.chat, { answer: "red", by: "Ada" });
  await page.locator(".state").getByText("red", { exact: true }).waitFor();
  await server.call("DELETE", `/v1/questions/${id}/answer?by=Ada`, server.chat);
  await page.locator(".ways").getByLabel("Your answer").waitFor();
  await page.getByText("Other ways to deal with it").waitFor();
  assert.equal(await page.getByText("This question is settled").count(), 0);
}
