// Runs the browser tests of one file, or of all: `node run.mjs [FILE]`. Each test has a server and browsers of its own.

import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Visitor, close, launch } from "./browser.mjs";
import { Server } from "./server.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [wanted, only] = process.argv.slice(2);
const files = (await readdir(here)).filter((name) => name.endsWith(".test.mjs") && (!wanted || name === `${wanted}.test.mjs`));
if (!files.length) throw new Error(`there is no ${wanted}.test.mjs`);

/** Runs a test with a server, and checks everybody who visited it. */
async function check(test) {
  const server = await Server.start();
  const visitors = [];
  const visits = {
    server,
    arrive: async (options) => visitors[visitors.push(await Visitor.arrive(server, options)) - 1],
    signedIn: async (options) => visitors[visitors.push(await Visitor.signedIn(server, options)) - 1],
  };
  try {
    await test(visits);
    for (const visitor of visitors) await visitor.leave();
  } catch (error) {
    for (const [index, { page }] of visitors.entries()) {
      await page.screenshot({ path: join(process.env.DEMUR_PICTURES ?? ".", `failed-${test.name}-${index}.png`), fullPage: true }).catch(() => {});
    }
    throw error;
  } finally {
    await server.end();
  }
}

let failed = 0;
await launch();
for (const file of files) {
  for (const [name, test] of Object.entries(await import(pathToFileURL(join(here, file))))) {
    if (only && !name.includes(only)) continue;
    const begun = Date.now();
    try {
      await check(test);
      console.log(`ok ${name} (${Date.now() - begun} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAILED ${name}\n${error.stack}\n`);
    }
  }
}
await close();
process.exit(failed ? 1 : 0);
