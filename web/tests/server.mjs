// A real server for one test: `demur serve` on a folder of its own, ended when the test is.

import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const program = process.env.DEMUR ?? "demur";
const run = promisify(execFile);

/** Who runs the server, by the user database. */
export const user = userInfo().username;

export class Server {
  /** Starts a server on a new folder, and waits until it answers. */
  static async start() {
    const server = new Server();
    server.folder = await mkdtemp(join(tmpdir(), "demur-browser-"));
    server.data = join(server.folder, "data");
    await server.resume();
    server.asker = await server.token("builder", "ask");
    server.chat = await server.token("chat", "relay", "--for", "Ada");
    return server;
  }

  /** Starts it (again) on its folder, with these words; it comes back at the same port. */
  async resume(...words) {
    this.process = spawn(program, ["serve", "--max-open-questions", "1000", "--max-asks-per-hour", "10000", "--data", this.data, ...words], { stdio: "ignore" });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    await until("the server answers", async () => {
      const status = await this.demur("status", "--json").catch(() => null);
      if (!status) return false;
      // Programs and pages have names of their own.
      ({ address: this.address, pages: this.origin } = JSON.parse(status));
      return Boolean(this.address);
    });
  }

  /** Runs a command on the folder and returns what it prints. */
  async demur(...words) {
    const { stdout } = await run(program, [...words, "--data", this.data]);
    return stdout.trim();
  }

  async stop() {
    await this.demur("stop").catch(() => this.process.kill());
    await this.ended;
  }

  async end() {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  token(name, scope, ...words) {
    return this.demur("token", "new", name, "--scope", scope, ...words);
  }

  /** Makes a code that signs a browser in; returns it with the address where it is typed. */
  async link(...words) {
    return JSON.parse(await this.demur("open", "--json", ...words));
  }

  /** Calls an operation as the user of this machine, over the socket. */
  async local(method, path, body) {
    const options = { socketPath: join(this.data, "socket"), method, path, headers: { "content-type": "application/json" } };
    const text = await new Promise((resolve, reject) => {
      const sent = request(options, async (response) => {
        response.setEncoding("utf8");
        resolve((await response.toArray()).join(""));
      });
      sent.on("error", reject).end(body && JSON.stringify(body));
    });
    return JSON.parse(text);
  }

  /** Makes a file that a browser opens, as `demur open` does for whoever sits here. */
  file() {
    return this.local("POST", "/v1/sign-in", { file: true });
  }

  /** Returns how many events the trace of a question has. */
  async events(id) {
    return (await this.local("GET", `/v1/traces/${id.split(".")[0]}/events`)).events.length;
  }

  async call(method, path, token, body) {
    const response = await fetch(this.address + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
    const document = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(document)}`);
    return document;
  }

  /** Asks a question and returns its id. */
  async ask(question, more = {}) {
    return (await this.call("POST", "/v1/questions", this.asker, { question, ...more })).id;
  }

  /** Answers as somebody who chats elsewhere. */
  answer(id, answer) {
    return this.call("POST", `/v1/questions/${id}/answer`, this.chat, { answer, by: "Ada" });
  }

  /** Puts an operation before people, and returns its id. */
  async want(action, operation, more = {}) {
    return (await this.call("POST", "/v1/confirmations", this.asker, { action, operation, ...more })).id;
  }

  confirmation(id) {
    return this.call("GET", `/v1/confirmations/${id}`, this.asker);
  }

  question(id) {
    return this.call("GET", `/v1/questions/${id}`, this.asker);
  }

  /** Ends every session of a browser. */
  async signEverybodyOut() {
    const { tokens } = JSON.parse(await this.demur("token", "list", "--json"));
    for (const token of tokens.filter((token) => token.scopes.includes("person"))) {
      await this.demur("token", "revoke", token.id);
    }
  }
}

/** Waits until something holds; fails where it does not come to hold. */
export async function until(what, holds, seconds = 60) {
  const limit = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() > limit) throw new Error(`${what} does not come to hold`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
