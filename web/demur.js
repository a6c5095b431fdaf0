// Makes the inbox live. Every page works without it. Nothing here has words of its own: they stand in the page, in the
// attributes of #live. Nothing here decides anything: it shows what the server's own pages say.
"use strict";

const live = document.getElementById("live");
const words = live ? live.dataset : {};
const list = document.getElementById("questions");
const confirmations = document.getElementById("confirmations");
const title = document.title;

/** Returns a text with a value in place of `{}`. */
const fill = (text, value) => (text || "").replace("{}", value);
const articles = (root = document) => [...root.querySelectorAll("article.question[id]")];
const isField = (element) =>
  element.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=hidden]), [contenteditable]");
const own = (article) => `/questions/${encodeURIComponent(article.dataset.question)}`;
const heading = (article) => article.querySelector("h1, h2")?.textContent.trim() || "";

// ---- What is said aloud: one polite region, once per burst ----

const burst = { asked: 0, must: 0, settled: 0, other: [], timer: 0 };

/** Has something said within a second, together with whatever else happens in it. */
function announce(change) {
  change(burst);
  burst.timer ||= setTimeout(sayBurst, 1000);
}

function sayBurst() {
  const parts = [];
  if (burst.asked) parts.push(fill(words.new, burst.asked));
  if (burst.must) parts.push(fill(words.must, burst.must));
  if (burst.settled) parts.push(fill(words.settled, burst.settled));
  parts.push(...burst.other);
  Object.assign(burst, { asked: 0, must: 0, settled: 0, other: [], timer: 0 });
  say(parts.join(", "));
}

function say(text) {
  // The same words twice are said twice only if they went away in between.
  live.textContent = "";
  requestAnimationFrame(() => requestAnimationFrame(() => (live.textContent = text)));
}

// ---- What is shown: fetched from the server's own pages ----

async function load(address) {
  const response = await fetch(address, { headers: { accept: "text/html" }, redirect: "error" });
  if (response.status === 401) signedOut();
  if (!response.ok) throw new Error(String(response.status));
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

function signedOut() {
  note(words.signedOut);
  announce((burst) => burst.other.includes(words.signedOut) || burst.other.push(words.signedOut));
}

/** Shows that the page is not live, or takes that back. */
function note(text) {
  let shown = document.getElementById("connection");
  if (!text) return shown?.remove();
  if (!shown) {
    shown = document.createElement("p");
    shown.id = "connection";
    shown.className = "connection";
    document.querySelector("header")?.after(shown);
  }
  shown.textContent = text;
}

/** Returns where this page can be had again: one that answers a form has the address of the form. */
const address = () => (confirmations ? location.pathname : list && location.pathname === "/" ? location.href : articles().length ? own(articles()[0]) : "/");

/** Brings this page up to date: new questions at the end, changed ones in their place. */
async function sync(changed) {
  const page = await load(address());
  for (const selector of [".counts", ".confirmations-waiting", ".history"]) swap(document, page, selector);
  // Nothing changes under somebody's hands: what is pressed too late the server refuses.
  if (confirmations && !document.getElementById("confirmations").contains(document.activeElement)) {
    swap(document, page, "#confirmations");
  }
  localTimes(document);
  if (list) addNew(page);
  for (const article of articles()) {
    const id = article.dataset.question;
    const fresh = page.getElementById(article.id);
    if (fresh && fresh.dataset.state === article.dataset.state && !changed.has(id)) continue;
    if (fresh) refresh(article, fresh, page);
    // A question that left this list is looked at on its own page, so that the card can say why.
    else if (article.dataset.state === "open") await refreshAlone(article);
  }
  showCount();
}

async function refreshAlone(article) {
  const page = await load(own(article));
  const fresh = page.getElementById(article.id);
  if (fresh) refresh(article, fresh, page);
}

function addNew(page) {
  // The newest of the settled ones would push everything down.
  if (list.dataset.list === "done") return;
  const fresh = articles(page).filter((article) => article.id && !document.getElementById(article.id));
  for (const article of fresh) {
    list.append(document.adoptNode(article.closest("li")));
    restoreDrafts(article);
    localTimes(article);
  }
  if (fresh.length) document.getElementById("empty")?.remove();
  for (const id of ["bulk"]) {
    const part = page.getElementById(id);
    if (part && !document.getElementById(id)) list.after(document.adoptNode(part));
  }
}

/** Puts the new state of a question in place of the old one, but never over somebody's words or focus. */
function refresh(article, fresh, page) {
  const wasOpen = article.dataset.state === "open";
  for (const name of ["state", "deadline", "severity"]) {
    if (fresh.dataset[name] === undefined) delete article.dataset[name];
    else article.dataset[name] = fresh.dataset[name];
  }
  const isOpen = article.dataset.state === "open";
  const late = !article.querySelector(".late") && !list && fresh.querySelector(".late");
  if (late) article.querySelector(".ways")?.before(document.adoptNode(late));
  // An answer was taken back.
  if (isOpen) article.querySelector(".late")?.remove();
  swap(article, fresh, ".state");
  const busy = isBusy(article) || (!list && isBusy(document.querySelector(".more")));
  if (busy) keepWords(article);
  else {
    swap(article, fresh, ".ways");
    if (!list) swapMore(article, page);
    if (!isOpen) settle(article);
  }
  localTimes(article);
  if (wasOpen && !isOpen) {
    const outcome = busy && article.querySelector(".outcome")?.textContent.trim();
    announce((burst) => (outcome ? burst.other.push(outcome, words.kept) : burst.settled++));
  }
}

/** Puts what else can be done about a question in place, also where nothing could be done before. */
function swapMore(article, page) {
  const fresh = page.querySelector(".more");
  if (fresh && !document.querySelector(".more")) article.after(document.adoptNode(fresh));
  else swap(document, page, ".more");
}

function settle(article) {
  article.querySelector(".choose")?.remove();
  const link = article.querySelector(".own-page a");
  if (link) link.textContent = words.history;
}

/** Replaces an element by its like in another page; one that is gone there goes here. */
function swap(here, there, selector) {
  const [old, fresh] = [here.querySelector(selector), there.querySelector(selector)];
  if (old && fresh) old.replaceWith(document.adoptNode(fresh));
  else if (old) old.remove();
}

/** Returns whether somebody is in it, or has written something that is not sent. */
function isBusy(element) {
  if (!element) return false;
  const written = (field) => isField(field) && field.value !== field.defaultValue && field.value !== "";
  return element.querySelector(".ways")?.contains(document.activeElement)
    || (element.matches(".more") && element.contains(document.activeElement))
    || [...element.querySelectorAll("textarea, input")].some(written);
}

function keepWords(article) {
  if (article.dataset.state === "open" || article.querySelector(".kept")) return;
  const kept = document.createElement("p");
  kept.className = "kept";
  kept.textContent = words.kept;
  article.querySelector(".state")?.append(kept);
}

function showCount(more = 0) {
  const open = list && list.dataset.list === "mine" ? articles(list).filter((one) => one.dataset.state === "open").length : 0;
  const count = open + more;
  document.title = count ? `(${count}) ${title}` : title;
}

// ---- The connection: one for all tabs of this browser ----

const waiting = { asked: new Map(), changed: new Set(), all: false, timer: 0, working: false };
const tabs = "BroadcastChannel" in window ? new BroadcastChannel("demur-live") : null;

/** Takes a message of the server, from this tab's connection or another's. */
function hear({ name, data }) {
  if (name === "lost") return note(words.lost);
  note("");
  if (name === "resumed") return;
  if (name === "asked") hearAsked(data);
  else if (name === "confirmation") hearConfirmation(data);
  else if (name === "changed") waiting.changed.add(data.question);
  else waiting.all = true;
  if (name === "asked" && document.hidden) showCount(waiting.asked.size);
  catchUp();
}

function hearAsked(data) {
  if (!data.people && list?.dataset.list !== "others") return;
  if (waiting.asked.has(data.question) || document.getElementById(`q-${data.question}`)) return;
  waiting.asked.set(data.question, data);
  announce((burst) => {
    burst.asked++;
    if (data.severity === "block") burst.must++;
  });
  if (document.hidden && window.Notification?.permission === "granted") {
    // One at a time, and no words of the question outside the page.
    new Notification(words.product, { body: fill(words.new, waiting.asked.size), tag: "demur" });
  }
}

function hearConfirmation(data) {
  waiting.all = true;
  if (data.state !== "open" || !data.people) return;
  announce((burst) => burst.other.includes(words.confirmation) || burst.other.push(words.confirmation));
  if (document.hidden && window.Notification?.permission === "granted") {
    new Notification(words.product, { body: words.confirmation, tag: "demur" });
  }
}

/** Brings the page up to date soon; not while nobody sees it, and not all browsers in the same moment. */
function catchUp() {
  if (document.hidden || waiting.timer || waiting.working) return;
  waiting.timer = setTimeout(work, 50 + Math.random() * 200);
}

async function work() {
  const changed = new Set(waiting.changed);
  Object.assign(waiting, { asked: new Map(), changed: new Set(), all: false, timer: 0, working: true });
  try {
    await sync(changed);
  } catch {
    // Said by the connection, or the next message brings it.
  }
  waiting.working = false;
  if (waiting.asked.size || waiting.changed.size || waiting.all) catchUp();
}

function connect(patience = 2000) {
  const source = new EventSource("/live");
  const pass = (name, data) => {
    hear({ name, data });
    tabs?.postMessage({ name, data });
  };
  for (const name of ["begin", "reload", "resumed", "asked", "changed", "confirmation"]) {
    source.addEventListener(name, (event) => {
      patience = 2000;
      pass(name, JSON.parse(event.data));
    });
  }
  source.addEventListener("error", () => {
    pass("lost");
    if (source.readyState !== EventSource.CLOSED) return;
    // The server refused. Signed out is said by the page; anything else may pass.
    load(address()).catch(() => {});
    setTimeout(() => connect(Math.min(patience * 2, 60000)), patience);
  });
}

function goLive() {
  if (!live || !articles().length && !list && !confirmations) return;
  tabs?.addEventListener("message", (event) => hear(event.data));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && (waiting.asked.size || waiting.changed.size || waiting.all)) catchUp();
  });
  if (!navigator.locks) return connect();
  let leads = false;
  // A browser allows few connections to a server: one tab has it, and tells the others.
  navigator.locks.request("demur-live", () => {
    leads = true;
    connect();
    return new Promise(() => {});
  });
  setTimeout(() => leads || hear({ name: "begin", data: {} }), 300);
}

// ---- What was before somebody's eyes: said with the key of the session, once for each question ----

const seen = { told: new Set(), since: new Map(), timer: 0 };

/** Returns the key that forms of this session carry. */
const formKey = () => document.querySelector("input[name=form_key]")?.value || demurKey();

function watchEyes() {
  if (!document.body.dataset.answers || !articles().length) return;
  setInterval(() => {
    const looks = document.visibilityState === "visible" && document.hasFocus();
    for (const article of articles()) {
      const id = article.dataset.question;
      const inView = looks && article.dataset.state === "open" && !seen.told.has(id) && isInView(article.querySelector("h1, h2"));
      if (!inView) seen.since.delete(id);
      else if (!seen.since.has(id)) seen.since.set(id, performance.now());
    }
    tellSeen();
  }, 250);
}

function isInView(element) {
  const box = element?.getBoundingClientRect();
  return Boolean(box) && box.bottom > 0 && box.top < innerHeight;
}

function tellSeen() {
  const now = performance.now();
  const levels = new Map();
  for (const [id, since] of seen.since) {
    const level = document.getElementById(`q-${id}`)?.dataset.level;
    if (now - since >= 1000 && level) levels.set(level, [...(levels.get(level) || []), id].slice(0, 32));
  }
  for (const [level, ids] of levels) {
    const body = new URLSearchParams({ level, form_key: formKey() });
    for (const id of ids) {
      body.append("question", id);
      seen.told.add(id);
      seen.since.delete(id);
    }
    // Nobody waits for it, and the answer says the same.
    fetch("/shown", { method: "POST", body, redirect: "error" }).catch(() => {});
  }
}

// ---- Deadlines: counted down in silence, said at half and at a tenth ----

const shares = new Map();

function countDown() {
  for (const article of articles()) {
    const end = Date.parse(article.dataset.deadline);
    if (article.dataset.state !== "open" || Number.isNaN(end)) continue;
    const left = end - Date.now();
    const text = distance(left);
    const shown = article.querySelector(".deadline .left");
    if (shown && shown.textContent !== text) shown.textContent = text;
    warn(article, left / (end - Date.parse(article.dataset.asked)));
  }
}

function warn(article, share) {
  const id = article.dataset.question;
  const before = shares.get(id) ?? share;
  shares.set(id, share);
  const passed = (mark) => before > mark && share <= mark && share > 0;
  const text = passed(0.1) ? words.tenth : passed(0.5) ? words.half : "";
  if (text) announce((burst) => burst.other.push(`${text} ${heading(article)}`));
}

function distance(left) {
  const seconds = Math.ceil(left / 1000);
  const minutes = Math.floor(left / 60000);
  if (seconds <= 0) return words.now;
  if (seconds === 1) return words.inSecond;
  if (minutes < 1) return fill(words.inSeconds, seconds);
  if (minutes === 1) return words.inMinute;
  if (minutes < 90) return fill(words.inMinutes, minutes);
  if (minutes < 120) return words.inHour;
  if (minutes < 2880) return fill(words.inHours, Math.floor(minutes / 60));
  return fill(words.inDays, Math.floor(minutes / 1440));
}

const zone = (date) =>
  new Intl.DateTimeFormat(undefined, { timeZoneName: "short" })
    .formatToParts(date)
    .find((part) => part.type === "timeZoneName").value;

function localTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    // What the page says in UTC is told in the reader's zone, with its name; UTC stays beside it. The rest is the record.
    if (!time.textContent.trim().endsWith("UTC")) continue;
    const date = new Date(time.dateTime);
    time.title = time.textContent;
    time.textContent = `${date.toLocaleString("sv-SE")} ${zone(date)}`;
  }
}

// ---- Drafts: what is typed and not sent stays in this tab ----

const fields = (root) =>
  [...root.querySelectorAll("form[method=post] textarea, form[method=post] input[type=text]")].filter(
    (field) => !field.readOnly && field.name && field.form.matches('[action^="/questions/"], .bulk, .send'),
  );

const SEVERAL = "several";
const questionOf = (form) => form.action.match(/\/questions\/([^/]+)\//)?.[1] || SEVERAL;

function draftKey(field) {
  const question = questionOf(field.form);
  const act = question === SEVERAL ? "" : field.form.elements.act?.value;
  return `draft ${question} ${act} ${field.name}`;
}

function keepDraft(field) {
  try {
    if (field.value) sessionStorage.setItem(draftKey(field), field.value);
    else sessionStorage.removeItem(draftKey(field));
  } catch {
    // A full or forbidden store: the words are still in the page.
  }
}

function restoreDrafts(root) {
  for (const field of fields(root)) {
    const kept = sessionStorage.getItem(draftKey(field));
    if (!kept || field.value) continue;
    field.value = kept;
    field.closest("details")?.setAttribute("open", "");
  }
}

/** Forgets what was sent, on the page that says that it was: no other page has to have known. */
function forgetSent() {
  const question = document.querySelector(".results") ? SEVERAL : location.pathname.match(/^\/questions\/([^/]+)$/)?.[1];
  const act = document.querySelector(".notice") && new URLSearchParams(location.search).get("sent");
  if (question !== SEVERAL && !act) return;
  const open = articles().some((one) => one.dataset.question === question && one.dataset.state === "open");
  const over = `draft ${question} ${open ? `${act} ` : ""}`;
  Object.keys(sessionStorage).filter((key) => key.startsWith(over)).forEach((key) => sessionStorage.removeItem(key));
}

// ---- Keys ----

function onKey(event) {
  if (event.isComposing || event.defaultPrevented) return;
  const { target, key } = event;
  if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
    if (target.form && isField(target)) target.form.requestSubmit(target.form.querySelector("[type=submit]"));
    return;
  }
  // Single letters are a screen reader's own: they act only for whoever switched them on, and never while typing.
  const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.repeat);
  const off = document.body.dataset.keys !== "true" || isField(target) || document.querySelector("dialog[open]");
  const act = plain && !off && (letters[key] || (/^[1-9]$/.test(key) ? choose : null));
  if (act) {
    act(key);
    event.preventDefault();
  }
}

const current = () => document.activeElement?.closest?.("article.question") || (list ? null : articles()[0]);

function move(step) {
  const all = articles();
  const at = all.indexOf(current());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  next?.querySelector("h2 a, h1 a, a, button")?.focus();
}

/** Presses a choice; what it does is shown before anything is sent. */
function choose(key) {
  const buttons = current()?.querySelectorAll(".ways .choices button, .ways .yes-no button, .ways .suggestions button");
  buttons?.[Number(key) - 1]?.click();
}

function decline() {
  const form = document.getElementById("decline");
  const article = current();
  if (form) openDetails(form);
  else if (article) location.assign(`${own(article)}#decline`);
}

function openDetails(details) {
  details.open = true;
  details.querySelector("textarea, select, button")?.focus();
}

const letters = {
  j: () => move(1),
  k: () => move(-1),
  o: () => list && current() && location.assign(own(current())),
  d: decline,
  x: () => current()?.querySelector(".choose input")?.click(),
  "?": () => document.getElementById("help")?.showModal(),
};

// ---- Keys of sessions: those of old sessions go, some at a time, so that one that is just beginning stays ----

function forgetKeys() {
  const { bound } = document.body.dataset;
  if (!bound) return;
  try {
    const old = Object.keys(localStorage).filter((key) => /^demur [0-9a-f]{64}$/.test(key) && key !== `demur ${bound}`);
    if (old.length > 8) old.forEach((key) => localStorage.removeItem(key));
  } catch {
    // A forbidden store has none.
  }
}

// ---- Notices of the desktop: only after a button was pressed ----

function offerNotices() {
  const button = document.getElementById("notify");
  if (!button || !window.Notification) return;
  const show = () => {
    button.hidden = Notification.permission !== "default";
    document.querySelector(".notify-on")?.toggleAttribute("hidden", Notification.permission !== "granted");
  };
  button.addEventListener("click", () => Notification.requestPermission().then(show));
  show();
}

document.addEventListener("keydown", onKey);
document.addEventListener("input", (event) => event.target.form && fields(document).includes(event.target) && keepDraft(event.target));
forgetSent();
restoreDrafts(document);
localTimes(document);
offerNotices();
showCount();
const aim = document.getElementById(location.hash.slice(1));
if (aim?.matches("details")) openDetails(aim);
forgetKeys();
watchEyes();
if (live) setInterval(countDown, 1000);
goLive();
