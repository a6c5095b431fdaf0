// Authenticators in software, and what two verifiers say of what they signed.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const second = fileURLToPath(new URL("../../conformance/ledger/verify.py", import.meta.url));

/** What Chromium says of a page that takes no RSA. */
export const noRsa = /pubKeyCredParams/;

/** An authenticator in the pocket of somebody with a browser. */
export class Authenticator {
  static async of(visitor, more = {}) {
    const authenticator = new Authenticator();
    authenticator.session = visitor.cdp ??= await visitor.context.newCDPSession(visitor.page);
    await authenticator.session.send("WebAuthn.enable");
    const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true, ...more };
    const { authenticatorId } = await authenticator.session.send("WebAuthn.addVirtualAuthenticator", { options });
    authenticator.id = authenticatorId;
    return authenticator;
  }

  /** Says whether its person is recognized from now on. */
  recognizes(isUserVerified) {
    return this.session.send("WebAuthn.setUserVerified", { authenticatorId: this.id, isUserVerified });
  }

  /** Says whether somebody touches it from now on. */
  isTouched(enabled) {
    return this.session.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId: this.id, enabled });
  }

  async credentials() {
    return (await this.session.send("WebAuthn.getCredentials", { authenticatorId: this.id })).credentials;
  }

  async put(credential) {
    await this.session.send("WebAuthn.addCredential", { authenticatorId: this.id, credential });
  }

  leave() {
    return this.session.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId: this.id });
  }
}

/** Brings the first passkey of a store in, on its page. */
export async function enrolRoot(visitor, label = "laptop") {
  const { code } = await visitor.server.local("POST", "/v1/passkeys/setup-code");
  await visitor.go("/passkeys");
  await visitor.page.getByLabel("What you call it").fill(label);
  await visitor.page.getByLabel("Setup code").fill(code);
  await visitor.page.getByRole("button", { name: "Add a passkey" }).click();
  await visitor.page.getByText("The passkey is on record").waitFor();
  return (await own(visitor.server)).passkeys.at(-1);
}

/** Brings a second one in, for which the first one vouches: each is touched in its turn. */
export async function addSecond(visitor, first, label = "blue key") {
  const key = await Authenticator.of(visitor, { transport: "usb" });
  await first.isTouched(false);
  visitor.cdp.on("WebAuthn.credentialAsserted", async ({ authenticatorId }) => {
    if (authenticatorId !== key.id) return;
    await Promise.all([key.isTouched(false), first.isTouched(true)]);
  });
  await visitor.go("/passkeys");
  await visitor.page.getByLabel("What you call it").fill(label);
  await visitor.page.keyboard.press("Enter");
  await visitor.page.getByText("The passkey is on record").waitFor();
  return key;
}

/** Returns the passkeys of a server, as its machine's user sees them. */
export async function own(server) {
  return JSON.parse(await server.demur("passkey", "list", "--json"));
}

/** Has both verifiers look at a trace; returns the report of the first. */
export async function accepted(server, trace, ...words) {
  const file = join(server.folder, `${trace}-${Date.now()}.demur`);
  await server.demur("export", trace, "--out", file);
  const { stdout } = await run(process.env.DEMUR ?? "demur", ["verify", file, ...words]);
  const other = await run("python3", [second, file]).catch((error) => error);
  assert.equal(other.code ?? 0, 0, `${other.stdout} ${other.stderr}`);
  return stdout;
}

/** Has a page ask for this algorithm alone. */
export async function takesOnly(visitor, algorithm) {
  await visitor.context.addInitScript((algorithm) => {
    const create = CredentialsContainer.prototype.create;
    CredentialsContainer.prototype.create = function (options) {
      options.publicKey.pubKeyCredParams = options.publicKey.pubKeyCredParams.filter(({ alg }) => alg === algorithm);
      return create.call(this, options);
    };
  }, algorithm);
}
