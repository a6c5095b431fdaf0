// Words that want to be more than words: they execute nothing, fetch nothing, hide nothing and break no page.

import assert from "node:assert/strict";

const attacks = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(2)>",
  "<svg/onload=alert(3)>",
  "[click](javascript:alert(4))",
  "![picture](https://evil.example/pixel.png)",
  "[bank](https://evil.example/login) **bold** `code`",
  "</textarea></form><form action=https://evil.example><button>Send</button></form>",
  "<style>*{display:none}</style><base href=https://evil.example>",
  "<a href=# onclick=alert(5) autofocus onfocus=alert(6)>x</a>",
  "\"'><iframe srcdoc='<script>parent.alert(7)</script>'></iframe>",
  "{{7*7}} ${alert(8)} <%= 1 %> \u0001\u0007\u001b[31m",
];

export async function markup_and_scripts_are_shown_and_do_nothing({ server, signedIn }) {
  const visitor = await signedIn();
  const { page } = visitor;
  const ids = [];
  for (const attack of attacks) {
    ids.push(await server.ask(attack, {
      detailed: attack,
      context: attack,
      choices: [{ value: "a", label: attack }, { value: "b", label: "plain" }],
      kinds: ["choice", "text"],
      suggestions: [attack],
    }));
  }
  await visitor.go("/");
  await page.getByRole("heading", { name: "Waiting for me" }).waitFor();
  await isInert(page);
  for (const id of ids) {
    await visitor.go(`/questions/${id}?level=detailed`);
    await isInert(page);
  }
  // What somebody answers is shown with the same care.
  await visitor.go(`/questions/${ids[0]}`);
  await page.getByLabel("Your answer").fill(attacks.join("\n"));
  await page.getByRole("button", { name: "Review, then send" }).first().click();
  await visitor.arrives(page.getByRole("heading", { name: "Look before you send" }));
  await isInert(page);
  await page.getByRole("button", { name: "Send" }).click();
  await visitor.arrives(page.getByText("Your answer is on record"));
  await isInert(page);
  await visitor.go(`/traces/${ids[0].split(".")[0]}`);
  await isInert(page);
}

export async function new_questions_that_arrive_live_are_as_inert({ server, signedIn }) {
  const visitor = await signedIn();
  await visitor.isLive();
  for (const attack of attacks) await server.ask(attack, { context: attack });
  await visitor.page.waitForFunction((count) => document.querySelectorAll("article.question").length === count, attacks.length);
  await isInert(visitor.page);
}

export async function hidden_and_turning_characters_are_called_by_name({ server, signedIn }) {
  await server.ask("Delete \u202Eexe.txt\u202C of pay\u200Bpal?", { choices: [{ value: "y", label: "Y\u2066es\u2069" }, { value: "n", label: "No" }] });
  const { page } = await signedIn();
  const text = await page.locator("article.question").innerText();
  for (const name of ["U+202E right-to-left override", "U+200B zero width space", "U+2066"]) assert.ok(text.includes(name), `${name}: ${text}`);
  const tree = await page.locator("article.question").ariaSnapshot();
  assert.match(tree, /heading "Delete \[U\+202E right-to-left override\]exe\.txt/);
}

export async function long_words_wrap({ server, signedIn }) {
  await server.ask("x".repeat(3000), { context: "y".repeat(4000), choices: [{ value: "a", label: "z".repeat(200) }, { value: "b", label: "No" }] });
  const visitor = await signedIn({ viewport: { width: 320, height: 640 } });
  await visitor.fitsAcross("a long word");
  await visitor.picture("long-words-phone");
}

/** Checks that nothing of the words became part of the page. */
async function isInert(page) {
  const found = await page.evaluate(() => ({
    elements: [...document.querySelectorAll("main img, main iframe, main style, main script, main object, main base, main svg:not(.states)")].map((one) => one.outerHTML),
    handlers: [...document.querySelectorAll("main *")].filter((one) => [...one.attributes].some(({ name }) => name.startsWith("on") || name === "style")).map((one) => one.outerHTML),
    links: [...document.querySelectorAll("main a")].filter((one) => !/^(https?:|mailto:)/.test(one.href)).map((one) => one.outerHTML),
    foreign: [...document.querySelectorAll("form")].filter((one) => new URL(one.action).origin !== location.origin).map((one) => one.outerHTML),
    unmarked: [...document.querySelectorAll("main a[href*='evil.example']")].filter((one) => !/noopener/.test(one.rel) || !one.parentElement.textContent.includes("(evil.example)")).map((one) => one.outerHTML),
  }));
  assert.deepEqual(found, { elements: [], handlers: [], links: [], foreign: [], unmarked: [] });
}
