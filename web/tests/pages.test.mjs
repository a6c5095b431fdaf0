// Every page: accessible at WCAG 2.2 AA in light and dark, right to left, on a phone; with pictures to look at.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { until } from "./server.mjs";

const task = fileURLToPath(new URL("../../examples/tasks/passes/task.toml", import.meta.url));
/** Fills a folder as an ordinary day would, and returns the addresses of all pages. */
async function fill(server) {
  const branch = await server.ask("Which branch shall the release be built from?", {
    terse: "Release branch?",
    detailed: "Which branch shall the release be built from? The tag `v2.3.0` is on **both** branches, and what is built is published at once.",
    context: "- `main` has two commits more than `release/2.3`\n- the tag stands on both\n- see [the pipeline](https://ci.example/builds/812)",
    choices: [{ value: "main", label: "main, with the two newer commits" }, { value: "release", label: "release/2.3, as it was tested" }],
    recommendation: "release",
    timeout_seconds: 5400,
    blocks: ["publish"],
  });
  const database = await server.ask("May I drop the table `sessions_old`? It has 1,204 rows, the newest from March.", {
    kinds: ["yes-no"], recommendation: false, severity: "block",
  });
  const number = await server.ask("How many workers shall the pool have?", { kinds: ["number"], severity: "warn", default: 4, timeout_seconds: 86400 });
  const name = await server.ask("What shall the new service be called?", { suggestions: ["ledger-gateway", "front-desk"], severity: "warn" });
  await server.ask("What is the deploy token of the staging cluster?", { kinds: ["secret"] });
  await server.ask("إلى أي خادم يجب نشر الإصدار الجديد؟", {
    language: "ar",
    context: "الخادم الأول مشغول حتى المساء.",
    choices: [{ value: "a", label: "الخادم الأول" }, { value: "b", label: "الخادم الثاني" }],
  });
  await server.ask("Which of the two plans fits better?", { answering: "agents" });
  const answered = await server.ask("Shall the old endpoint stay for another month?", { kinds: ["yes-no"] });
  await server.answer(answered, true);
  const sending = await server.want("Send 10 to mallory", { amount: 10, to: "mallory" }, { consequence: "The money is gone.", timeout_seconds: 3600 });
  const trace = branch.split(".")[0];
  const { trace: run, claims } = JSON.parse(await server.demur("run", "--task", task, "--json"));
  return {
    branch,
    name,
    pages: {
      mine: "/",
      others: "/?list=others",
      done: "/?list=done",
      search: "/?q=branch&severity=block",
      nothing: "/?q=nowhere-to-be-found",
      question: `/questions/${branch}`,
      detailed: `/questions/${branch}?level=detailed`,
      yes_no: `/questions/${database}`,
      number: `/questions/${number}`,
      text: `/questions/${name}`,
      settled: `/questions/${answered}`,
      confirmations: "/confirmations",
      confirmation: `/confirmations/${sending}`,
      settings: "/settings",
      passkeys: "/passkeys",
      traces: "/traces",
      trace: `/traces/${trace}`,
      event: `/traces/${trace}/events/0`,
      verification: `/traces/${trace}/verification`,
      run: `/traces/${run}/run`,
      steps: `/traces/${run}`,
      artifact: `/traces/${run}/artifacts/${claims[0].evidence[0]}`,
      missing: "/questions/01ARZ3NDEKTSV4RRFFQ69G5FAV.3",
    },
  };
}

/** Goes through all pages, and has each of them checked. */
async function visitAll({ server, signedIn }, options, examine) {
  const { pages, branch } = await fill(server);
  const visitor = await signedIn({ ...options, expects: [/status of (404|422|409)/] });
  const check = async (where, shown) => {
    await visitor.arrives(shown);
    await examine(visitor, where);
  };
  for (const [where, path] of Object.entries(pages)) {
    await visitor.go(path);
    await examine(visitor, where);
  }
  await visitor.go(pages.question);
  await visitor.page.locator(".more details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
  await examine(visitor, "ways");
  await visitor.page.getByRole("button", { name: /as it was tested/ }).click();
  await check("review", visitor.page.getByRole("heading", { name: "Look before you send" }));
  await server.answer(branch, "main");
  await visitor.page.getByRole("button", { name: "Send" }).click();
  await check("late", visitor.page.getByRole("heading", { name: "Too late" }));
  await visitor.go(pages.text);
  await visitor.page.getByRole("button", { name: "Review, then send" }).first().click();
  await check("wrong", visitor.page.getByText("Write something first."));
}

export function every_page_is_accessible_in_light_and_dark(visits) {
  return visitAll(visits, {}, async (visitor, where) => {
    await visitor.isAccessible(`${where}, light`);
    await visitor.picture(`${where}-light`);
    // The same page in other colours: what is not about colour was just checked.
    await visitor.page.emulateMedia({ colorScheme: "dark" });
    await visitor.isAccessible(`${where}, dark`, ["color-contrast", "link-in-text-block"]);
    await visitor.picture(`${where}-dark`);
    await visitor.page.emulateMedia({ colorScheme: "light" });
  });
}

export function every_page_fits_a_phone(visits) {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  return visitAll(visits, phone, async (visitor, where) => {
    await visitor.hasLargeTargets(where);
    for (const width of [390, 320]) {
      await visitor.page.setViewportSize({ width, height: 700 });
      await visitor.fitsAcross(`${where}, ${width}`);
    }
    await visitor.picture(`${where}-phone`);
  });
}

export async function pages_for_strangers({ server, arrive }) {
  for (const colorScheme of ["light", "dark"]) {
    const visitor = await arrive({ colorScheme, expects: [/status of 40/, /request to file:/] });
    await visitor.go("/");
    await visitor.isAccessible(`signed out, ${colorScheme}`);
    await visitor.picture(`signed-out-${colorScheme}`);
    await visitor.go("/sign-in");
    await visitor.isAccessible(`sign in, ${colorScheme}`);
    await visitor.picture(`sign-in-${colorScheme}`);
    await visitor.page.goto(`file://${(await server.file()).file}`, { waitUntil: "commit" });
    await visitor.page.getByText("You sign in as").waitFor();
    await visitor.isAccessible(`sign in as, ${colorScheme}`);
    await visitor.picture(`sign-in-as-${colorScheme}`);
    for (const width of [1280, 320]) {
      await visitor.page.setViewportSize({ width, height: 700 });
      await visitor.fitsAcross(`sign in as, ${width}`);
      await visitor.hasLargeTargets(`sign in as, ${width}`);
      await visitor.picture(`sign-in-as-${colorScheme}-${width}`);
    }
  }
}

export async function forced_colours_and_right_to_left_keep_everything({ server, signedIn }) {
  await fill(server);
  const visitor = await signedIn({ forcedColors: "active" });
  await visitor.picture("mine-forced-colours");
  const article = visitor.page.locator("article", { hasText: "الخادم الأول" });
  assert.equal(await article.locator("h2").getAttribute("lang"), "ar");
  assert.equal(await article.locator("h2").evaluate((heading) => getComputedStyle(heading).direction), "rtl");
  // The frame itself turns as well: nothing is laid out from the left.
  await visitor.page.emulateMedia({ forcedColors: "none" });
  await visitor.page.evaluate(() => (document.documentElement.dir = "rtl"));
  await visitor.fitsAcross("right to left");
  const bar = await visitor.page.locator(".question").first().evaluate((one) => getComputedStyle(one).borderRightWidth);
  assert.ok(parseFloat(bar) > 4, "the bar of the severity is at the beginning of the line");
  await visitor.picture("mine-right-to-left");
}

export async function the_tree_says_what_the_page_shows({ server, signedIn }) {
  const { branch } = await fill(server);
  const visitor = await signedIn();
  const list = await visitor.page.locator("main").ariaSnapshot();
  assert.match(list, /heading "Waiting for me" \[level=1\]/);
  assert.match(list, /heading "Which branch shall the release be built from\?" \[level=2\]/);
  assert.match(list, /button "release\/2\.3, as it was tested \(recommended by the asker\)"/);
  assert.match(list, /group "Choose one"/);
  assert.match(list, /Written by an agent/);
  assert.match(list, /Must be answered/);
  await visitor.go(`/questions/${branch}`);
  // The page brings itself up to date when it becomes live, so a control may be replaced while it is looked at.
  await until("every control has a name", async () => {
    const names = await controls(visitor.page);
    return names.length > 10 && names.every((name) => name.trim());
  });
  const tree = await visitor.page.locator("main").ariaSnapshot();
  assert.match(tree, /heading "Which branch .*" \[level=1\]/);
  assert.match(tree, /table/);
  const page = await visitor.page.locator("body").ariaSnapshot();
  for (const landmark of ["banner", "navigation \"Parts of the inbox\"", "main", "status"]) assert.ok(page.includes(landmark), page);
}

export async function pictures_for_the_documents({ server, signedIn }) {
  const { branch } = await fill(server);
  const visitor = await signedIn({ viewport: { width: 1040, height: 780 } });
  await visitor.picture("docs-inbox-light", { fullPage: false });
  await visitor.go(`/questions/${branch}`);
  await visitor.picture("docs-question-light", { fullPage: false });
  await visitor.page.getByRole("button", { name: /as it was tested/ }).click();
  await visitor.arrives(visitor.page.getByRole("heading", { name: "Look before you send" }));
  await visitor.picture("docs-review-light", { fullPage: false });
  const night = await signedIn({ viewport: { width: 390, height: 760 }, colorScheme: "dark" });
  await night.picture("docs-inbox-phone", { fullPage: false });
}

/** Returns the name of every control, as assistive technology reads it. */
async function controls(page) {
  const names = [];
  for (const role of ["button", "textbox", "link", "checkbox", "radio", "combobox"]) {
    for (const one of await page.getByRole(role).all()) {
      const line = (await one.ariaSnapshot()).split("\n")[0];
      names.push(line.match(/"(.*)"/)?.[1] ?? line.split(": ").slice(1).join(": "));
    }
  }
  return names;
}
