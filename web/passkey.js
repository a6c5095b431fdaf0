// Signs with a passkey. The server works out what is signed and says what became of it; the words stand in the page, in the
// attributes of #touch-alert. Without this script every form works, but for the buttons that sign. The page that signs somebody in
// has it inside.
"use strict";

{
  const place = document.getElementById("touch-alert");
  const told = place ? place.dataset : {};
  const entry = document.querySelector("form.passkey-in");
  /** How long a person has for one touch, in milliseconds. */
  const patience = 120000;

  const toText = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const credential = (id) => ({ type: "public-key", id: toBytes(id) });

  /** What is said to the person, in words of the server or of the page. */
  class Told extends Error {}

  // ---- The server ----

  async function send(path, body) {
    const headers = { accept: "application/json" };
    // The key of the session; a stranger has none.
    if (!entry) headers["demur-form-key"] = formKey();
    if (!(body instanceof URLSearchParams)) {
      headers["content-type"] = "application/json";
      body = JSON.stringify(body);
    }
    const response = await fetch(path, { method: "POST", headers, body, redirect: "error" });
    const document = response.status === 204 ? null : await response.json();
    if (!response.ok) throw new Told(why(document));
    return document;
  }

  const why = ({ detail, hint }) => [detail, hint].filter(Boolean).join("; ");

  // ---- The passkey ----

  /** Has a passkey sign what is prepared; returns what it made of it. */
  async function touch({ challenge, rp, credentials }) {
    const options = { challenge: toBytes(challenge), rpId: rp, allowCredentials: credentials.map(credential), userVerification: "required", timeout: patience };
    const { id, response } = await navigator.credentials.get({ publicKey: options });
    return {
      authenticator: toText(response.authenticatorData),
      client: toText(response.clientDataJSON),
      credential: id,
      signature: toText(response.signature),
    };
  }

  /** Has it signed and recorded; returns how each act stands, and what is to be signed next. */
  async function finish(prepared) {
    if (!prepared.touch) return prepared;
    return send(`/v1/touches/${encodeURIComponent(prepared.touch.name)}`, await touch(prepared.touch));
  }

  /** Has the browser make a passkey; returns what the server wants to know of it. */
  async function make({ person, name, credentials }) {
    const options = {
      attestation: "none",
      authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
      // What the browser makes of it counts for nothing: the passkey signs next.
      challenge: crypto.getRandomValues(new Uint8Array(32)),
      excludeCredentials: credentials.split(" ").filter(Boolean).map(credential),
      pubKeyCredParams: [-7, -8].map((alg) => ({ type: "public-key", alg })),
      rp: { id: location.hostname, name: told.product },
      timeout: patience,
      user: { id: new TextEncoder().encode(person), name, displayName: name },
    };
    const { id, response } = await navigator.credentials.create({ publicKey: options });
    return {
      algorithm: response.getPublicKeyAlgorithm(),
      authenticator: toText(response.getAuthenticatorData()),
      credential: id,
      public_key: toText(response.getPublicKey() || new ArrayBuffer(0)),
    };
  }

  // ---- What buttons do ----

  /** Sends a form signed: the server reads it as it does without a passkey. */
  async function sign(form, button) {
    const fields = new URLSearchParams(new FormData(form));
    fields.set(button.name, button.value);
    const { acts } = await finish(await send("/touch", fields));
    const results = document.getElementById("touched");
    if (results) return showResults(results, acts);
    if (acts[0].status === "refused") throw new Told(why(acts[0]));
    if (acts[0].detail) throw new Told(`${told.unsettled} ${acts[0].detail}`);
    location.assign(button.dataset.then);
  }

  /** Shows what became of each of several questions, in place of the review. */
  function showResults(results, acts) {
    const page = results.content.cloneNode(true);
    const body = page.querySelector("tbody");
    const items = document.querySelectorAll(".chosen > li");
    const isDone = ({ status, detail }) => status !== "refused" && !detail;
    acts.forEach((act, at) => {
      const row = body.insertRow();
      row.dataset.done = isDone(act);
      row.insertCell().append(items[at].querySelector("h2 a") || items[at].dataset.question);
      row.insertCell().textContent = isDone(act) ? results.dataset[act.status] : `${results.dataset.not} ${why(act)}`;
    });
    const title = page.querySelector("h1");
    title.textContent = results.dataset.title.replace("{}", acts.filter(isDone).length).replace("{}", acts.length);
    document.title = document.title.replace(/^.*(?= · )/, () => title.textContent);
    document.getElementById("content").replaceChildren(place, page);
    title.focus();
    forgetSent();
  }

  async function enrol(form, button) {
    const { label, setup_code: code } = form.elements;
    const made = await make(form.dataset);
    if (code) made.setup_code = code.value;
    const { acts, next } = await finish(await send("/v1/passkeys", { ...made, label: label.value }));
    let isIn = acts[0].status === "signed";
    if (next) {
      say(told.next);
      // Without the second touch it waits, and the page says so.
      isIn = await finish(next).then(({ acts: [act] }) => act.status === "signed", () => false);
    }
    location.assign(isIn ? button.dataset.then : form.dataset.waits);
  }

  async function signIn(form) {
    const { name } = form.elements;
    const prepared = await send("/sign-in/passkey", { name: name.value.trim() });
    const made = await touch(prepared);
    const keep = await sessionKey;
    await send(`/sign-in/passkey/${encodeURIComponent(prepared.name)}`, { made, key: keep() });
    remember(name.value.trim());
    location.assign("/");
  }

  function remember(name) {
    try {
      localStorage.setItem("demur-name", name);
    } catch {
      // It is typed again.
    }
  }

  function remembered() {
    try {
      return localStorage.getItem("demur-name") || "";
    } catch {
      return "";
    }
  }

  // ---- One after the other, and what did not work ----

  let isBusy = false;

  async function attempt(work) {
    if (isBusy) return;
    isBusy = true;
    place.hidden = true;
    try {
      if (!window.PublicKeyCredential || !navigator.credentials) throw new Told(told.unable);
      await work();
    } catch (error) {
      const words = { NotAllowedError: told.cancelled, AbortError: told.cancelled, InvalidStateError: told.known };
      place.textContent = error instanceof Told ? error.message : words[error.name] || told.failed;
      place.hidden = false;
      place.focus();
    }
    isBusy = false;
  }

  document.addEventListener("submit", (event) => {
    const { target: form, submitter: button } = event;
    const work = form === entry ? signIn : button?.dataset.then && (form.dataset.person === undefined ? sign : enrol);
    if (!work) return;
    event.preventDefault();
    attempt(() => work(form, button));
  });

  /** Shows the buttons that need this script; where one is the first, it takes over from the one without a passkey. */
  function offer(root) {
    root.querySelectorAll("form[data-person][hidden]").forEach((form) => (form.hidden = false));
    for (const button of root.querySelectorAll("button[data-then][disabled]")) {
      button.disabled = button.hidden = false;
      if (!button.dataset.first) continue;
      const plain = button.parentElement.querySelector("button.primary:not([data-then])");
      plain?.classList.remove("primary");
      if ([document.body, plain].includes(document.activeElement)) button.focus();
    }
  }

  offer(document);
  // What the page brings in later, when it is live.
  new MutationObserver(() => offer(document)).observe(document.body, { childList: true, subtree: true });
  if (entry) {
    entry.hidden = false;
    entry.elements.name.value = remembered();
  }
}
