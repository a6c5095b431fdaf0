// A real server for one test: `demur serve` on a folder of its own, ended when the test is.

import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const program = process.env.DEMUR ?? "demur";
const run = promisify(execFile);

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

  /** Starts it (again) on its folder; it comes back at the same port. */
  async resume() {
    this.process = spawn(program, ["serve", "--max-open-questions", "1000", "--max-asks-per-hour", "10000", "--data", this.data], { stdio: "ignore", env: { ...process.env, USER: "kim" } });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    await until("the server answers", async () => {
      const status = await this.demur("status", "--json").catch(() => null);
      this.origin = status ? JSON.parse(status).address : this.origin;
      return Boolean(status);
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

  link(...words) {
    return this.demur("open", "--print", ...words);
  }

  async call(method, path, token, body) {
    const response = await fetch(this.origin + path, {
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
