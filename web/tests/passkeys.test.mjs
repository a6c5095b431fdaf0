// What people do with passkeys, with the authenticator in software that Chromium has for tests.

import assert from "node:assert/strict";
import { join } from "node:path";

import { Authenticator, accepted, addSecond, enrolRoot, noRsa, own, takesOnly } from "./passkeys.mjs";
import { user } from "./server.mjs";

const demanding = { assurance: "passkey" };
const sign = "Sign with passkey and send";

/** Signs somebody in whose pocket has an authenticator. */
async function withPasskey(visits, more = {}, expects = []) {
  const visitor = await visits.signedIn({ expects: [noRsa, ...expects] });
  const authenticator = await Authenticator.of(visitor, more);
  return { visitor, page: visitor.page, authenticator };
}

export async function a_first_passkey_comes_in_and_vouches_for_a_second(visits) {
  const { server } = visits;
  const { visitor, page, authenticator } = await withPasskey(visits);
  const root = await enrolRoot(visitor);
  assert.deepEqual([root.label, root.voucher, root.eligible, root.active], ["laptop", "nobody_late", false, true]);
  await page.getByText("Perhaps it is an agent's: a program had a key before it came.").waitFor();
  await page.getByText(root.key).waitFor();
  await addSecond(visitor, authenticator);
  const { passkeys, waiting } = await own(server);
  assert.deepEqual(passkeys.map(({ label, active }) => [label, active]), [["laptop", true], ["blue key", true]]);
  assert.deepEqual([passkeys[1].voucher, waiting], [{ passkey: root.key }, []]);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await visitor.fitsAcross(`passkeys, ${width}`);
      await visitor.hasLargeTargets(`passkeys, ${width}`);
      await visitor.isAccessible(`passkeys, ${colorScheme}, ${width}`);
      await visitor.picture(`passkeys-${colorScheme}-${width}`);
    }
  }
}

export async function a_passkey_that_nobody_vouched_for_waits(visits) {
  const { server, signedIn } = visits;
  const { visitor, page } = await withPasskey(visits);
  await enrolRoot(visitor);
  // Another browser of the same person, which does not have the first passkey.
  const other = await signedIn({ expects: [noRsa] });
  await Authenticator.of(other);
  await other.go("/passkeys");
  await other.page.getByLabel("What you call it").fill("phone");
  await other.page.getByRole("button", { name: "Add a passkey" }).click();
  await other.page.getByText("It waits now for somebody to vouch for it").waitFor();
  await visitor.go("/passkeys");
  await visitor.isAccessible("a passkey that waits");
  await visitor.picture("passkeys-waiting");
  const vouch = page.getByRole("button", { name: `Vouch for it: phone, ${user}` });
  await vouch.focus();
  await page.keyboard.press("Enter");
  await page.getByText("You vouched for the passkey").waitFor();
  const { passkeys, waiting } = await own(server);
  assert.deepEqual([passkeys.map(({ active }) => active), waiting], [[true, true], []]);
}

export async function a_question_that_demands_a_passkey_is_answered_with_the_keyboard(visits) {
  const { server } = visits;
  const id = await server.ask("Ship it?", { kinds: ["yes-no"], ...demanding });
  const { visitor, page } = await withPasskey(visits);
  await visitor.go(`/questions/${id}`);
  await page.getByText("This question needs your passkey, and you have none").waitFor();
  assert.equal(await page.getByRole("button", { name: "Yes" }).count(), 0);
  await visitor.isAccessible("a question that demands a passkey");
  await visitor.picture("passkey-missing");
  const root = await enrolRoot(visitor);
  await visitor.go(`/questions/${id}`);
  await page.getByRole("button", { name: "Yes" }).focus();
  await page.keyboard.press("Enter");
  await visitor.focuses(sign);
  assert.equal(await page.getByRole("button", { name: "Send", exact: true }).count(), 0, "no other way");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await visitor.fitsAcross(`review, ${width}`);
      await visitor.isAccessible(`review, ${colorScheme}, ${width}`);
      await visitor.picture(`passkey-review-${colorScheme}-${width}`);
    }
  }
  await page.keyboard.press("Enter");
  await page.getByText("Your answer is on record").waitFor();
  const { state, outcome } = await server.question(id);
  assert.deepEqual([state, outcome.value, outcome.assurance, outcome.by], ["answered", true, "passkey", user]);
  const report = await accepted(server, id.split(".")[0], "--pin", `${user}=${root.key}`);
  assert.ok(report.includes(`passkey ${root.key.slice(0, 4)}`), report);
}

export async function an_answer_is_changed_and_taken_back_with_a_passkey(visits) {
  const { server } = visits;
  const id = await server.ask("What is the name?");
  const { visitor, page } = await withPasskey(visits);
  await enrolRoot(visitor);
  const review = async (form) => {
    await form.getByRole("button", { name: "Review, then send" }).click();
    await visitor.focuses(sign);
  };
  await visitor.go(`/questions/${id}`);
  await page.getByLabel("Your answer").fill("Heron");
  await review(page);
  assert.ok(await page.getByRole("button", { name: "Send", exact: true }).isVisible(), "either way");
  await page.getByLabel("A note with it").fill("It is short");
  await page.getByRole("button", { name: sign }).click();
  await page.getByText("Your answer is on record").waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), [], "what is sent is not kept");
  const { outcome } = await server.question(id);
  assert.deepEqual([outcome.value, outcome.note, outcome.assurance], ["Heron", "It is short", "passkey"]);
  await page.getByText("Change the answer", { exact: true }).click();
  await page.locator("#replace").getByLabel("Your answer").fill("Egret");
  await review(page.locator("#replace"));
  assert.equal(await page.getByRole("button", { name: "Send", exact: true }).count(), 0, "no less sure than before");
  await page.keyboard.press("Enter");
  await page.getByText("Sent. Your new answer counts").waitFor();
  assert.equal((await server.question(id)).outcome.value, "Egret");
  await page.getByText("Take the answer back", { exact: true }).click();
  await review(page.locator("#revoke"));
  await page.keyboard.press("Enter");
  await page.getByText("Sent. The answer is taken back").waitFor();
  assert.equal((await server.question(id)).state, "open");
  await accepted(server, id.split(".")[0]);
}

export async function a_secret_is_signed_where_it_is_typed(visits) {
  const { server } = visits;
  const id = await server.ask("What is the password?", { kinds: ["secret"], ...demanding });
  const { visitor, page } = await withPasskey(visits);
  await enrolRoot(visitor);
  await visitor.go(`/questions/${id}`);
  await page.locator("input[type=password]").fill("hunter2");
  await page.getByRole("button", { name: "Sign with passkey and send the secret" }).click();
  await page.getByText("Your answer is on record").waitFor();
  assert.equal((await server.question(id)).outcome.assurance, "passkey");
}

export async function a_question_that_demands_a_passkey_can_be_declined_without_one({ server, signedIn }) {
  const id = await server.ask("Ship it?", demanding);
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.go(`/questions/${id}`);
  await page.getByText("Decline", { exact: true }).click();
  await page.locator("#decline").getByRole("button").click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("You declined this question").waitFor();
  assert.equal((await server.question(id)).state, "declined");
}

export async function twenty_questions_are_answered_with_one_touch(visits) {
  const { server } = visits;
  const ids = [];
  for (let number = 1; number <= 20; number++) ids.push(await server.ask(`Ship part ${number}?`, number % 2 ? demanding : {}));
  const { visitor, page, authenticator } = await withPasskey(visits);
  const root = await enrolRoot(visitor);
  await visitor.go("/");
  for (const box of await page.locator(".choose input").all()) await box.check();
  await page.getByLabel("Answer all with the same words").check();
  await page.getByLabel("The answer to all of them").fill("yes");
  await page.locator("#bulk").getByRole("button").click();
  await visitor.focuses(sign);
  assert.equal(await page.getByRole("button", { name: "Send", exact: true }).count(), 0);
  await visitor.isAccessible("the review of twenty");
  const before = (await authenticator.credentials())[0].signCount;
  // Somebody else is faster with one of them.
  const late = ids[1];
  await server.answer(late, "no");
  await page.keyboard.press("Enter");
  await visitor.focuses("19 of 20 done");
  assert.equal((await authenticator.credentials())[0].signCount, before + 1, "one touch");
  await visitor.isAccessible("what became of twenty");
  await visitor.picture("passkey-bulk-result");
  assert.equal(await page.locator('.results tr[data-done="true"]').count(), 19);
  await page.locator('.results tr[data-done="false"]').getByText("Ship part 2?").waitFor();
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), []);
  for (const id of ids) {
    const { outcome } = await server.question(id);
    assert.deepEqual([outcome.value, outcome.assurance], id === late ? ["no", "relayed"] : ["yes", "passkey"]);
  }
  for (const id of [ids[0], ids[19]]) {
    const report = await accepted(server, id.split(".")[0]);
    assert.ok(report.includes(`passkey ${root.key.slice(0, 4)}`), report);
  }
}

export async function more_than_64_questions_are_too_many_for_one_touch(visits) {
  const { server } = visits;
  const chosen = [];
  for (let number = 1; number <= 65; number++) chosen.push(await server.ask(`Part ${number}?`));
  const { visitor, page } = await withPasskey(visits, {}, [/status of 4/]);
  await enrolRoot(visitor);
  await visitor.go("/");
  await page.evaluate((chosen) => {
    const form = document.getElementById("bulk");
    form.append(...chosen.map((id) => Object.assign(document.createElement("input"), { type: "hidden", name: "question", value: id })));
  }, chosen);
  await page.locator("#bulk").getByRole("button").click();
  await visitor.focuses(sign);
  await page.keyboard.press("Enter");
  await visitor.focuses("One touch of a passkey signs at most 64 questions. Choose fewer.");
}

export async function an_operation_is_confirmed_and_another_refused_with_a_passkey(visits) {
  const { server } = visits;
  const [given, refused] = [await server.want("Send 10 to mallory", { amount: 10 }, demanding), await server.want("Drop it", { table: "users" })];
  const { visitor, page } = await withPasskey(visits);
  await visitor.go(`/confirmations/${given}`);
  await page.getByText("This operation needs your passkey").waitFor();
  const root = await enrolRoot(visitor);
  await visitor.go(`/confirmations/${given}`);
  assert.equal(await page.getByRole("button", { name: "Confirm this operation" }).count(), 0);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await visitor.fitsAcross(`confirmation, ${width}`);
      await visitor.isAccessible(`confirmation, ${colorScheme}, ${width}`);
      await visitor.picture(`passkey-confirmation-${colorScheme}-${width}`);
    }
  }
  await page.keyboard.press("Enter");
  assert.equal((await server.confirmation(given)).state, "open", "Enter alone decides nothing");
  await page.getByRole("button", { name: "Confirm with passkey" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText(`confirmed: ${user}`).waitFor();
  const { state, outcome } = await server.confirmation(given);
  assert.deepEqual([state, outcome.assurance], ["given", "passkey"]);
  const report = await accepted(server, given.split(".")[0]);
  assert.ok(report.includes(`passkey ${root.key.slice(0, 4)}`), report);
  await visitor.go(`/confirmations/${refused}`);
  assert.ok(await page.getByRole("button", { name: "Refuse it" }).isVisible(), "either way");
  await page.getByLabel("Why not").fill("Not today");
  await page.getByRole("button", { name: "Refuse with passkey" }).click();
  await page.getByText(`refused: ${user}`).waitFor();
  const no = (await server.confirmation(refused)).outcome;
  assert.deepEqual([no.assurance, no.note], ["passkey", "Not today"]);
  // What the page brings in while it is open can be signed, too.
  const last = await server.want("Send 20 to mallory", { amount: 20 }, demanding);
  await visitor.go(`/confirmations/${last}`);
  await visitor.isLive();
  await page.evaluate(() => document.getElementById("confirmations").setAttribute("data-old", ""));
  await server.want("Another one", { table: "users" });
  await page.locator("#confirmations:not([data-old])").waitFor();
  await page.getByRole("button", { name: "Refuse with passkey" }).waitFor();
}

export async function a_person_signs_out_and_in_with_a_passkey(visits) {
  const { server } = visits;
  const { visitor, page, authenticator } = await withPasskey(visits, {}, [/status of 4/]);
  await enrolRoot(visitor);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("link", { name: "I have a code or a passkey" }).click();
  const name = page.getByLabel("Your name");
  const enter = page.getByRole("button", { name: /passkey/ });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await visitor.isAccessible(`sign in, ${colorScheme}`);
    await visitor.picture(`passkey-sign-in-${colorScheme}`);
  }
  await name.fill("nobody");
  await enter.click();
  // The server does not tell who is here: the browser finds none of the passkeys it was told of.
  await page.locator("#touch-alert:focus").getByText("The passkey did not sign").waitFor();
  await visitor.isAccessible("sign in, refused");
  await authenticator.recognizes(false);
  await name.fill(user);
  await enter.click();
  await page.getByText("The passkey did not sign").waitFor();
  assert.deepEqual(await visitor.context.cookies(), [], "nobody is signed in");
  await authenticator.recognizes(true);
  await enter.focus();
  await page.keyboard.press("Enter");
  await visitor.arrives(page.getByRole("heading", { name: "Waiting for me", level: 1 }));
  // The script's key is there: without it nothing could be changed.
  const id = await server.ask("What is the name?");
  await visitor.go(`/questions/${id}`);
  await page.getByLabel("Your answer").fill("Heron");
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Your answer is on record").waitFor();
  assert.equal((await server.question(id)).outcome.assurance, "signed_in", "worth more than a code");
  await accepted(server, id.split(".")[0]);
  const journal = JSON.parse(await server.demur("trace", "list", "--json")).traces.find(({ kind }) => kind === "journal");
  await accepted(server, journal.trace);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("link", { name: "I have a code or a passkey" }).click();
  assert.equal(await name.inputValue(), user, "the last name is remembered");
}

export async function a_passkey_is_removed_and_signs_no_more(visits) {
  const { server } = visits;
  const { visitor, page, authenticator } = await withPasskey(visits, {}, [/status of 4/]);
  const root = await enrolRoot(visitor);
  // Nobody would be left.
  await page.getByRole("button", { name: `Remove: laptop, ${user}` }).click();
  await page.locator("#touch-alert:focus").waitFor();
  assert.ok((await own(server)).passkeys[0].active);
  await addSecond(visitor, authenticator);
  await page.getByRole("button", { name: `Remove: blue key, ${user}` }).click();
  await page.getByText("The passkey is removed and signs nothing any more").waitFor();
  await page.getByText("removed: signs nothing any more", { exact: true }).waitFor();
  const { passkeys } = await own(server);
  assert.deepEqual(passkeys.map(({ active }) => active), [true, false]);
  const id = await server.ask("Ship it?", { kinds: ["yes-no"], ...demanding });
  await visitor.go(`/questions/${id}`);
  await page.getByRole("button", { name: "Yes" }).click();
  await page.getByRole("button", { name: sign }).click();
  await page.getByText("Your answer is on record").waitFor();
  assert.ok((await accepted(server, id.split(".")[0])).includes(`passkey ${root.key.slice(0, 4)}`));
}

export async function a_lost_passkey_is_replaced_with_the_recovery_key(visits) {
  const { server, signedIn } = visits;
  const { visitor, page, authenticator } = await withPasskey(visits);
  const recovery = join(server.folder, "recovery.key");
  await server.demur("keys", "rotate", "desk", "--recovery", recovery);
  const lost = await enrolRoot(visitor);
  await authenticator.leave();
  const other = await signedIn({ expects: [noRsa] });
  await Authenticator.of(other);
  await other.go("/passkeys");
  await other.page.getByLabel("What you call it").fill("new laptop");
  await other.page.getByRole("button", { name: "Add a passkey" }).click();
  await other.page.getByText("It waits now for somebody to vouch for it").waitFor();
  const [waiting] = (await own(server)).waiting;
  await server.demur("passkey", "reset", waiting.key, "--recovery", recovery);
  assert.deepEqual((await own(server)).passkeys.map(({ key, active }) => [key, active]), [[lost.key, false], [waiting.key, true]]);
  await visitor.go("/passkeys");
  await page.getByText("the recovery key of this server").waitFor();
  const id = await server.ask("Ship it?", { kinds: ["yes-no"], ...demanding });
  await other.go(`/questions/${id}`);
  await other.page.getByRole("button", { name: "Yes" }).click();
  await other.page.getByRole("button", { name: sign }).click();
  await other.page.getByText("Your answer is on record").waitFor();
  assert.ok((await accepted(server, id.split(".")[0])).includes(`passkey ${waiting.key.slice(0, 4)}`));
}

export async function a_touch_that_is_cancelled_changes_nothing(visits) {
  const { server } = visits;
  const id = await server.ask("Ship it?", { kinds: ["yes-no"], ...demanding });
  const { visitor, page, authenticator } = await withPasskey(visits);
  await enrolRoot(visitor);
  const known = await own(server);
  await visitor.go(`/questions/${id}`);
  await page.getByRole("button", { name: "Yes" }).click();
  await visitor.focuses(sign);
  await page.getByLabel("A note with it").fill("I am sure");
  await authenticator.recognizes(false);
  await page.getByRole("button", { name: sign }).click();
  await visitor.focuses("The passkey did not sign, and nothing was recorded. Press the button to try again.");
  await visitor.isAccessible("a touch that was cancelled");
  await visitor.picture("passkey-cancelled");
  assert.equal((await server.question(id)).state, "open");
  assert.equal(await page.getByLabel("A note with it").inputValue(), "I am sure");
  // Nor does one without a passkey that is made and then not touched.
  await visitor.go("/passkeys");
  await page.getByLabel("What you call it").fill("another");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.locator("#touch-alert:focus").waitFor();
  assert.deepEqual(await own(server), known);
  await authenticator.recognizes(true);
  await visitor.go(`/questions/${id}`);
  await page.getByRole("button", { name: "Yes" }).click();
  await page.getByRole("button", { name: sign }).click();
  await page.getByText("Your answer is on record").waitFor();
}

export async function a_wrong_setup_code_brings_nothing_in(visits) {
  const { server } = visits;
  const { visitor, page } = await withPasskey(visits, {}, [/status of 4/]);
  await server.local("POST", "/v1/passkeys/setup-code");
  await visitor.go("/passkeys");
  await page.getByLabel("What you call it").fill("laptop");
  await page.getByLabel("Setup code").fill("0000-0000");
  await page.keyboard.press("Enter");
  await page.locator("#touch-alert:focus").getByText("expected the setup code of this server").waitFor();
  await visitor.isAccessible("a wrong setup code");
  assert.deepEqual((await own(server)).passkeys, []);
}

export async function both_algorithms_and_synced_passkeys_are_taken(visits) {
  const { server } = visits;
  const { visitor, page } = await withPasskey(visits, { defaultBackupEligibility: true, defaultBackupState: true });
  await takesOnly(visitor, -8);
  const id = await server.ask("Ship it?", { kinds: ["yes-no"], ...demanding });
  const root = await enrolRoot(visitor);
  assert.ok(root.eligible);
  await page.getByText("may be copied to other devices (its own claim)").waitFor();
  await visitor.go(`/questions/${id}`);
  await page.getByRole("button", { name: "Yes" }).click();
  await page.getByRole("button", { name: sign }).click();
  await page.getByText("Your answer is on record").waitFor();
  const trace = id.split(".")[0];
  assert.ok((await accepted(server, trace)).includes(`passkey ${root.key.slice(0, 4)}`));
  const exported = await server.demur("export", trace);
  assert.ok(exported.includes('"ed25519:') && !exported.includes('"es256:'), "an Ed25519 key signed");
}

export async function without_a_script_the_page_says_what_it_needs({ server, signedIn }) {
  const visitor = await signedIn({ javaScriptEnabled: false });
  const { page } = visitor;
  await visitor.go("/settings");
  await page.getByRole("link", { name: "Add, vouch for or remove passkeys" }).click();
  await page.locator("noscript p").waitFor();
  assert.match(await page.locator("noscript p").innerText(), /^Passkeys need JavaScript/);
  assert.equal(await page.locator("main form:visible").count(), 0, "nothing that does nothing");
  assert.deepEqual((await own(server)).passkeys, []);
}

export async function a_browser_without_passkeys_says_so(visits) {
  const visitor = await visits.arrive();
  await visitor.context.addInitScript(() => delete window.PublicKeyCredential);
  await visitor.signIn();
  const { page } = visitor;
  await visitor.go("/passkeys");
  await page.getByLabel("What you call it").fill("laptop");
  await page.getByLabel("Setup code").fill("0000-0000");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await visitor.focuses("This browser cannot use passkeys. Use another browser, or a newer one.");
}

export async function operators_look_after_people_with_a_passkey(visits) {
  const { server, arrive } = visits;
  await server.demur("people", "add", "olga", "--role", "operator");
  const { port } = new URL(server.address);
  await server.stop();
  await server.resume("--port", port, "--public-url", `http://localhost:${port}`);
  const visitor = await arrive({ expects: [noRsa, /status of 4/] });
  await visitor.signIn("--as", "olga");
  const { page } = visitor;
  await Authenticator.of(visitor);
  await enrolRoot(visitor);
  await visitor.go("/people");
  const adding = page.locator("form[action='/people/add']");
  await adding.getByLabel("Name").fill("Omar");
  await adding.getByRole("radio", { name: /operator/ }).check();
  await adding.getByRole("button", { name: "Add with passkey" }).click();
  const omar = page.getByRole("row", { name: /^Omar/ });
  await omar.waitFor();
  assert.equal(await page.getByRole("button", { name: "Remove: Omar" }).count(), 0, "not without a passkey");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await visitor.fitsAcross(`people, ${width}`);
      await visitor.isAccessible(`people, ${colorScheme}, ${width}`);
      await visitor.picture(`passkey-people-${colorScheme}-${width}`);
    }
  }
  await omar.getByLabel("New role: Omar").selectOption("answerer");
  await omar.getByRole("button", { name: "Change the role with passkey: Omar" }).click();
  await page.getByRole("row", { name: /^Omar answerer/ }).waitFor();
  await page.getByRole("button", { name: "Remove with passkey: Omar" }).click();
  await omar.waitFor({ state: "detached" });
  const { people } = await server.local("GET", "/v1/people");
  assert.deepEqual(people.map(({ name }) => name), ["olga"]);
  const id = await server.ask("Which branch?");
  const report = await accepted(server, id.split(".")[0], "--json");
  assert.match(JSON.parse(report).verdict, /^pass/);
}

/** With the keyboard alone: opened, a reason typed, signed, and over. */
export async function an_operator_ends_a_run_with_a_touch(visits) {
  const { server } = visits;
  const tokens = {};
  for (const name of ["plan", "work", "judge", "audit"]) tokens[name] = await server.token(name, "ask");
  const agents = { executor: "work", critic: "judge", auditor: "audit" };
  const opening = { task: "tests", objective: "The tests pass", constraints: ["no network"], agents };
  const { trace } = await server.call("POST", "/v1/runs", tokens.plan, opening);
  const { visitor, page } = await withPasskey(visits);
  await enrolRoot(visitor);
  await visitor.go(`/traces/${trace}/run`);
  await page.getByText("End this run").focus();
  await page.keyboard.press("Enter");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await visitor.isAccessible(`end of a run, ${colorScheme}`);
    await visitor.picture(`run-end-${colorScheme}`);
  }
  await page.keyboard.press("Tab");
  await page.keyboard.type("No longer needed");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("End this run").waitFor({ state: "detached" });
  const { events } = await server.local("GET", `/v1/traces/${trace}/events`);
  const last = events.at(-1);
  assert.deepEqual([last.type ?? last.envelope.statement.type, Object.keys(last.envelope.proof)], ["session_aborted", ["webauthn"]]);
  await accepted(server, trace);
}
