// How a person answers: with the keyboard, without scripts, against somebody faster, and after the session ended.

import assert from "node:assert/strict";

import { until } from "./server.mjs";

const colours = { choices: [{ value: "main", label: "The main branch" }, { value: "dev", label: "The development branch" }], recommendation: "main" };

export async function a_choice_is_made_with_the_keyboard_only({ server, signedIn }) {
  const id = await server.ask("Which branch shall I build?", colours);
  const visitor = await signedIn();
  const { page } = visitor;
  const choice = page.getByRole("button", { name: /The development branch/ });
  await tabTo(page, choice);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Look before you send" }).waitFor();
  assert.equal((await server.question(id)).state, "open", "nothing is sent before it was looked at");
  await visitor.focuses("Send");
  await page.keyboard.press("Enter");
  await page.getByText("Your answer is on record").waitFor();
  const { state, outcome } = await server.question(id);
  assert.deepEqual([state, outcome.value, outcome.assurance], ["answered", "dev", "terminal"]);
}

export async function text_goes_with_ctrl_enter_and_single_letters_do_nothing({ server, signedIn }) {
  const id = await server.ask("What shall the release be called?");
  const visitor = await signedIn();
  const { page } = visitor;
  for (const key of ["j", "k", "1", "d", "x", "o", "?"]) await page.keyboard.press(key);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "BODY");
  const field = page.getByLabel("Your answer");
  await tabTo(page, field);
  await page.keyboard.type("Heron d1 ?\nsecond line");
  await page.keyboard.press("Control+Enter");
  await visitor.focuses("Send");
  await page.keyboard.press("Enter");
  await page.getByText("Your answer is on record").waitFor();
  assert.equal((await server.question(id)).outcome.value, "Heron d1 ?\nsecond line");
}

export async function single_letters_act_once_they_are_switched_on({ server, signedIn }) {
  const [, id] = [await server.ask("First?"), await server.ask("Second?", colours)];
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.go("/settings");
  await page.getByRole("checkbox", { name: /single letters/i }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await visitor.arrives(page.getByText("Saved"));
  await visitor.go("/");
  await page.keyboard.press("j");
  await visitor.focuses("First?");
  await page.keyboard.press("j");
  await visitor.focuses("Second?");
  await page.keyboard.press("j");
  assert.equal(await focused(page), "Second?", "it ends at the last one");
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  assert.ok(await page.locator(`#q-${CSS_escape(id)} .choose input`).isChecked());
  await page.keyboard.press("Shift+?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await page.getByRole("heading", { name: "Look before you send" }).waitFor();
  await page.getByText("The development branch").first().waitFor();
  assert.equal((await server.question(id)).state, "open", "a key sends nothing");
  await visitor.go(`/questions/${id}`);
  await page.keyboard.press("d");
  assert.equal(await page.evaluate(() => document.activeElement.id), "decline-reason");
  await page.keyboard.type("jkd1x");
  assert.equal(await page.locator("#decline-reason").inputValue(), "jkd1x", "letters are letters while typing");
}

export async function of_two_browsers_one_wins_and_the_other_is_told({ server, signedIn }) {
  const id = await server.ask("What is the name?");
  const people = [await signedIn(), await signedIn({ expects: [/status of 409/] })];
  people[0].expects.push(/status of 409/);
  for (const [index, visitor] of people.entries()) {
    await visitor.go(`/questions/${id}`);
    await visitor.page.getByLabel("Your answer").fill(`answer of ${index}`);
    await visitor.page.getByRole("button", { name: "Review, then send" }).first().click();
    await visitor.page.getByRole("button", { name: "Send" }).waitFor();
  }
  const send = async ({ page }) => {
    const [won, lost] = [page.getByText("Your answer is on record"), page.getByRole("heading", { name: "Too late" })];
    await page.getByRole("button", { name: "Send" }).click();
    await won.or(lost).first().waitFor();
    return won.isVisible();
  };
  const won = await Promise.all(people.map(send));
  assert.deepEqual([...won].sort(), [false, true]);
  const loser = people[won.indexOf(false)].page;
  const kept = await loser.getByLabel(/What you wrote was not sent/).inputValue();
  assert.equal(kept.trim(), `answer of ${won.indexOf(false)}`);
  assert.equal((await server.question(id)).outcome.value, `answer of ${won.indexOf(true)}`);
}

export async function declining_asking_back_and_more_time_take_their_way({ server, signedIn }) {
  const [declined, asked, extended] = [await server.ask("One?"), await server.ask("Two?"), await server.ask("Three?", { timeout_seconds: 600 })];
  const visitor = await signedIn();
  const { page } = visitor;
  const send = async (text) => {
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(text).waitFor();
  };
  await visitor.go(`/questions/${declined}`);
  await page.getByText("Decline", { exact: true }).click();
  await page.locator("#decline").getByLabel("Reason").fill("Not mine to say");
  await page.locator("#decline").getByRole("button").click();
  await send("You declined this question");
  const outcome = (await server.question(declined)).outcome;
  assert.deepEqual([outcome.state, outcome.note], ["declined", "Not mine to say"]);
  await visitor.go(`/questions/${asked}`);
  await page.getByText("Ask back", { exact: true }).click();
  await page.getByLabel("What you want to know first").fill("For which customer?");
  await page.locator("#ask-back").getByRole("button").click();
  await send("can ask again");
  assert.equal((await server.question(asked)).outcome.note, "For which customer?");
  const before = Date.parse((await server.question(extended)).deadline);
  await visitor.go(`/questions/${extended}`);
  await page.getByText("More time", { exact: true }).click();
  await page.getByRole("button", { name: "1 hour more" }).click();
  await send("There is more time now");
  const after = Date.parse((await server.question(extended)).deadline);
  assert.ok(after - before >= 3_000_000, `${before} ${after}`);
}

export async function several_are_settled_at_once({ server, signedIn }) {
  const ids = [await server.ask("One?"), await server.ask("Two?"), await server.ask("Three?")];
  const visitor = await signedIn();
  const { page } = visitor;
  for (const id of [ids[0], ids[2]]) await page.locator(`article[data-question="${id}"] .choose input`).check();
  await page.getByLabel("Decline all").check();
  await page.getByLabel("Reason").fill("Not this week");
  await page.locator("#bulk").getByRole("button").click();
  await page.getByRole("heading", { name: "Look before you send" }).waitFor();
  assert.equal(await page.locator(".chosen > li").count(), 2);
  assert.equal((await server.question(ids[0])).state, "open", "nothing is sent yet");
  await visitor.focuses("Send");
  await visitor.isAccessible("the review of several");
  await page.keyboard.press("Enter");
  await visitor.arrives(page.locator(".results"));
  await visitor.isAccessible("what became of several");
  await visitor.picture("bulk-result");
  const states = await Promise.all(ids.map(async (id) => (await server.question(id)).state));
  assert.deepEqual(states, ["declined", "open", "declined"]);
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), []);
}

export async function an_auditor_reads_and_changes_nothing({ server, arrive }) {
  const id = await server.ask("For whom?", colours);
  await server.demur("people", "add", "Olu", "--role", "auditor");
  const visitor = await arrive();
  await visitor.signIn("--as", "Olu");
  await visitor.page.getByText("answering needs another role").first().waitFor();
  await visitor.go(`/questions/${id}`);
  assert.equal(await visitor.page.locator("main form").count(), 0);
}

export async function everything_works_without_scripts({ server, signedIn }) {
  const [chosen, written] = [await server.ask("Which branch?", colours), await server.ask("Which name?")];
  const visitor = await signedIn({ javaScriptEnabled: false, expects: [/status of 422/] });
  const { page } = visitor;
  await page.getByRole("button", { name: /The main branch/ }).click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Your answer is on record").waitFor();
  await page.getByRole("link", { name: "Go to the next question that waits" }).click();
  await page.getByRole("heading", { name: "Which name?", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await page.getByText("Write something first.").waitFor();
  await page.getByLabel("Your answer").fill("Heron");
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await page.getByRole("button", { name: "Go back" }).click();
  assert.equal((await page.getByLabel("Your answer").inputValue()).trim(), "Heron", "what was typed comes back");
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Your answer is on record").waitFor();
  assert.deepEqual([(await server.question(chosen)).outcome.value, (await server.question(written)).outcome.value], ["main", "Heron"]);
}

export async function words_survive_a_reload_and_the_end_of_the_session({ server, signedIn }) {
  const id = await server.ask("What is the plan?");
  const visitor = await signedIn({ expects: [/status of 401/] });
  const { page } = visitor;
  await visitor.go(`/questions/${id}`);
  const field = page.getByLabel("Your answer");
  await field.pressSequentially("A long thought");
  await page.reload();
  assert.equal(await field.inputValue(), "A long thought");
  await server.signEverybodyOut();
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
  assert.ok((await page.content()).includes("A long thought"), "the page shows what is not sent");
  await visitor.signIn();
  await visitor.go(`/questions/${id}`);
  assert.equal(await field.inputValue(), "A long thought");
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await page.getByRole("button", { name: "Send" }).click();
  await visitor.arrives(page.getByText("Your answer is on record"));
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), [], "what is sent is not kept");
}

export async function a_secret_is_kept_nowhere_in_the_browser({ server, signedIn }) {
  const id = await server.ask("What is the password?", { kinds: ["secret"] });
  const visitor = await signedIn();
  await visitor.go(`/questions/${id}`);
  await visitor.page.locator("input[type=password]").pressSequentially("hunter2");
  const kept = await visitor.page.evaluate(() => JSON.stringify([Object.keys(sessionStorage), Object.keys(localStorage), { ...localStorage }]));
  const [session, local] = JSON.parse(kept);
  assert.ok(!kept.includes("hunter2"), kept);
  // Nothing but the key of the session, which is named by its digest.
  assert.deepEqual([session, local.filter((name) => !/^demur [0-9a-f]{64}$/.test(name))], [[], []]);
}

export async function an_expired_question_says_so({ server, signedIn }) {
  const id = await server.ask("Quick?", { timeout_seconds: 1 });
  const visitor = await signedIn();
  await visitor.go(`/questions/${id}`);
  await visitor.page.getByText("Expired").first().waitFor();
  await until("it is expired", async () => (await server.question(id)).state === "expired");
}

/** Presses Tab until something has focus. */
async function tabTo(page, target) {
  await target.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail("Tab does not lead there");
}

const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());
const CSS_escape = (id) => id.replace(".", "\\.");

export async function times_are_in_the_zone_of_the_reader_with_its_name({ server, signedIn }) {
  const id = await server.ask("When?", { timeout_seconds: 86400 });
  const there = { timezoneId: "Asia/Tokyo" };
  const visitor = await signedIn(there);
  await visitor.go(`/questions/${id}`);
  const time = visitor.page.locator(".deadline time");
  const at = Date.parse(await time.getAttribute("datetime"));
  const local = new Date(at + 9 * 3600_000).toISOString().slice(0, 19).replace("T", " ");
  await time.filter({ hasText: local }).waitFor();
  assert.match(await time.textContent(), / (JST|GMT\+9)$/);
  assert.match(await time.getAttribute("title"), / UTC$/);
  const plain = await signedIn({ ...there, javaScriptEnabled: false });
  await plain.go(`/questions/${id}`);
  assert.match(await plain.page.locator(".deadline time").textContent(), / UTC$/);
}

export async function a_question_whose_asker_hung_up_says_so({ server, signedIn }) {
  const id = await server.ask("Anybody there?");
  const visitor = await signedIn();
  const shows = async () => {
    await visitor.go(`/questions/${id}`);
    return visitor.page.getByText("Nobody waits for the answer").isVisible();
  };
  assert.equal(await shows(), false, "who never waited is not gone");
  const hangUp = new AbortController();
  const headers = { authorization: `Bearer ${server.asker}` };
  const held = fetch(`${server.address}/v1/questions/${id}/wait?seconds=60`, { headers, signal: hangUp.signal });
  await until("the asker waits", async () => (await server.question(id)).waited_for === true);
  assert.equal(await shows(), false);
  hangUp.abort();
  await held.catch(() => {});
  await until("the page says so", shows);
}
