// How a person confirms or refuses an operation: whole before them, with two buttons of which neither is the default.

import assert from "node:assert/strict";
import { user } from "./server.mjs";

const transfer = { amount: 10, to: "mallory" };

export async function an_operation_arrives_and_is_confirmed_with_the_keyboard({ server, signedIn }) {
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.isLive();
  const id = await server.want("Send 10 to mallory", transfer, { consequence: "The money is gone." });
  await visitor.hears("an operation waits for a yes or a no");
  await page.getByRole("link", { name: "1 operation waits for a yes or a no" }).click();
  await page.getByRole("link", { name: "Send 10 to mallory" }).click();
  await page.getByText('"amount": 10').waitFor();
  await page.getByText("The money is gone.").waitFor();
  // Enter alone decides nothing.
  await page.keyboard.press("Enter");
  assert.equal((await server.confirmation(id)).state, "open");
  const yes = page.getByRole("button", { name: "Confirm this operation" });
  await yes.focus();
  await page.keyboard.press("Enter");
  await page.getByText(`confirmed: ${user}`).waitFor();
  const { state, outcome } = await server.confirmation(id);
  assert.deepEqual([state, outcome.assurance], ["given", "terminal"]);
}

export async function an_open_page_says_that_somebody_was_first({ server, signedIn }) {
  const id = await server.want("Drop the table users", { sql: "DROP TABLE users" });
  const visitor = await signedIn();
  const { page } = visitor;
  await visitor.go(`/confirmations/${id}`);
  await visitor.isLive();
  await page.getByRole("button", { name: "Refuse it" }).waitFor();
  await server.demur("confirm", "refuse", id);
  await page.getByText("refused: ").waitFor();
  assert.equal(await page.getByRole("button", { name: "Confirm this operation" }).count(), 0);
}

export async function hostile_words_stay_words({ server, signedIn }) {
  const markup = "<script>document.title='taken'</script><b>bold</b>";
  const id = await server.want(markup, { command: `${markup}\u202e` }, { consequence: markup });
  const visitor = await signedIn();
  const { page } = visitor;
  for (const address of ["/confirmations", `/confirmations/${id}`]) {
    await visitor.go(address);
    // The title has the words as words; the script would have put others in their place.
    assert.notEqual(await page.title(), "taken");
    assert.equal(await page.locator("article b, article script").count(), 0);
  }
}

export async function it_works_without_scripts({ server, signedIn }) {
  const id = await server.want("Send 10 to mallory", transfer);
  const visitor = await signedIn({ javaScriptEnabled: false });
  const { page } = visitor;
  await visitor.go(`/confirmations/${id}`);
  await page.getByRole("button", { name: "Refuse it" }).click();
  await page.getByText("refused: ").waitFor();
  assert.equal((await server.confirmation(id)).state, "refused");
}
