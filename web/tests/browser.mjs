// A real browser. Whatever a page logs as an error, asks of another host or opens as a dialog fails the test.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.DEMUR_NODE ?? process.cwd(), "tests.js"));
const { chromium } = require("playwright-core");
const axe = require("axe-core");

const pictures = process.env.DEMUR_PICTURES ?? "pictures";
let browser;

export async function launch() {
  await mkdir(pictures, { recursive: true });
  browser = await chromium.launch({
    executablePath: process.env.DEMUR_CHROMIUM ?? "/usr/bin/chromium",
    // As root there is no sandbox; the pages are our own.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}

export const close = () => browser?.close();

/** Somebody with a browser of their own. */
export class Visitor {
  /** Opens a browser that knows nothing. `expects` are what its console may say. */
  static async arrive(server, { expects = [], ...options } = {}) {
    const visitor = new Visitor();
    visitor.server = server;
    visitor.expects = expects;
    visitor.wrong = [];
    visitor.context = await browser.newContext({
      viewport: { width: 1100, height: 800 },
      locale: "en-GB",
      timezoneId: "UTC",
      reducedMotion: "reduce",
      ...options,
    });
    // Only what fails waits that long: a busy machine is slow, not wrong.
    visitor.context.setDefaultTimeout(30_000);
    await visitor.context.addInitScript(listen);
    await serveDrafts(visitor.context);
    await serveLate(visitor.context);
    visitor.page = await visitor.newPage();
    return visitor;
  }

  /** Opens a browser and signs in. */
  static async signedIn(server, options) {
    const visitor = await Visitor.arrive(server, options);
    await visitor.signIn();
    return visitor;
  }

  async newPage() {
    const page = await this.context.newPage();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.complain(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.complain(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
      this.complain(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== this.server.origin) this.complain(`request to ${request.url()}`);
    });
    return page;
  }

  complain(text) {
    if (!this.expects.some((pattern) => pattern.test(text))) this.wrong.push(text);
  }

  /** Signs in with a new code; the words are for `demur open`. */
  async signIn(...words) {
    const { page } = this;
    const { url, code } = await this.server.link(...words);
    await page.goto(url);
    await page.getByLabel("Code").fill(code);
    // A key of its own is made once the page is there.
    await page.waitForLoadState("load");
    await page.getByRole("button", { name: "Sign in" }).click();
    await this.arrives(page.getByRole("heading", { name: "Waiting for me", level: 1 }));
  }

  /** Waits until the page that shows something is whole: what can be seen is there before stylesheet and script are. */
  async arrives(locator) {
    await locator.waitFor();
    await this.page.waitForLoadState("load");
  }

  /** Waits until something with this text has the focus. */
  async focuses(text) {
    // A page that is on its way has no element yet that could have it.
    await this.page.waitForFunction((text) => document.activeElement?.textContent.trim() === text, text);
  }

  go(path) {
    return this.page.goto(this.server.origin + path);
  }

  /** Waits until the page is live. */
  async isLive(page = this.page) {
    await page.waitForFunction(() => window.heard?.includes("begin"));
  }

  /** Returns what the live region has said so far. */
  said(page = this.page) {
    return page.evaluate(() => window.said);
  }

  async hears(text, page = this.page) {
    await page.waitForFunction((text) => window.said.some((said) => said.includes(text)), text);
  }

  /** Checks that nothing went wrong, and leaves. */
  async leave() {
    await this.context.close();
    assert.deepEqual(this.wrong, []);
  }

  /** Keeps a picture of the page. */
  async picture(name, options = {}) {
    const take = () => this.page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true, ...options });
    // A busy machine may fail to draw; a picture is kept, not checked.
    await take().catch(take);
  }

  /** Checks the page as it is shown against WCAG 2.2 AA. */
  async isAccessible(where, rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]) {
    await this.page.evaluate(axe.source);
    const found = await this.page.evaluate((rules) => axe.run({ runOnly: rules }), rules);
    const told = found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ")}`);
    assert.deepEqual(told, [], where);
    assert.ok(found.passes.length > 0, `${where}: something was checked`);
  }

  /** Checks that everything that can be pressed is at least 24 px wide and high. */
  async hasLargeTargets(where) {
    const small = await this.page.evaluate(() =>
      [...document.querySelectorAll("button, input:not([type=hidden]), select, textarea, summary, nav a")]
        .filter((one) => one.checkVisibility())
        .map((one) => [one.outerHTML.slice(0, 80), one.getBoundingClientRect()])
        .filter(([, { width, height }]) => width < 24 || height < 24));
    assert.deepEqual(small, [], where);
  }

  /** Checks that nothing has to be scrolled sideways. */
  async fitsAcross(where) {
    const [inner, outer] = await this.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(inner <= outer, `${where}: ${inner} px wide in a window of ${outer}`);
  }
}

/** Runs in every page: notes what the live region says, and what the server tells the page. */
function listen() {
  window.said = [];
  window.heard = [];
  const Original = window.EventSource;
  window.EventSource = class extends Original {
    constructor(...given) {
      super(...given);
      for (const name of ["begin", "reload", "resumed", "asked", "changed"]) {
        this.addEventListener(name, () => window.heard.push(name));
      }
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    const live = document.getElementById("live");
    const note = () => live.textContent && window.said.push(live.textContent);
    if (live) new MutationObserver(note).observe(live, { childList: true, characterData: true, subtree: true });
  });
}

/** While somebody works on stylesheet and script, they are served as they are now and not as they were built. */
async function serveDrafts(context) {
  const folder = process.env.DEMUR_DRAFTS;
  if (!folder) return;
  await context.route("**/assets/*", async (route) => {
    const name = new URL(route.request().url()).pathname.split("/").pop();
    const type = name.endsWith(".css") ? "text/css" : "text/javascript";
    await route.fulfill({ contentType: type, body: await readFile(join(folder, name)) });
  });
}

/** As over a bad network, stylesheet and script come up to so many milliseconds after the words. */
async function serveLate(context) {
  const most = Number(process.env.DEMUR_LATE ?? 0);
  if (!most) return;
  await context.route("**/assets/*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * most));
    await route.continue();
  });
}
