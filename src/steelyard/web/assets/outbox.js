// Answers that the server has not confirmed yet: kept in the browser, and sent in order.
import { attempt, on, send } from "./page.js";

const PREFIX = "steelyard.answers.";
const kept = attempt(() => localStorage) ?? {}; // where the browser keeps nothing, this page does
const LONGEST_WAIT = 30_000;

const read = (name) => attempt(() => JSON.parse(kept[name]));

export const isSame = (one, other) => sorted(one) === sorted(other);
function sorted(value) {
  return JSON.stringify(value, (_, part) => (part && typeof part === "object" && !Array.isArray(part)
    ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part));
}

export class Outbox {
  // `ask(entry, stored)` decides on a conflict: "mine", "theirs", or null where it is left for later.
  // `back` is called when the server has answered again, and nothing waits any more.
  constructor({ who, annotator, queue, ask, show, back }) {
    Object.assign(this, { who, annotator, queue, ask, show, back, tries: 0 });
    on(window, "online", () => this.again());
  }

  async again() { if (await this.flush()) this.back(); }

  entries() {
    return Object.keys(kept).filter((name) => name.startsWith(PREFIX)).map(read)
      .filter((entry) => entry?.who === this.who).sort((a, b) => a.since - b.since);
  }

  find(item) {
    const entry = read(PREFIX + item);
    return entry?.who === this.who ? entry : null;
  }

  keep(entry) {
    const since = this.find(entry.item)?.since ?? Date.now();
    const text = JSON.stringify({ ...entry, who: this.who, queue: entry.queue ?? this.queue, since, at: performance.now() + Math.random() });
    attempt(() => { kept[PREFIX + entry.item] = text; });
  }

  drop(item) { delete kept[PREFIX + item]; }

  // Sends all that waits; whether nothing is left. One at a time, however often it is called.
  flush() {
    this.flushing ??= this.sendAll().finally(() => { this.flushing = null; });
    return this.flushing;
  }

  async sendAll() {
    clearTimeout(this.timer);
    const left = new Set();
    for (;;) {
      const entry = this.entries().find((one) => !left.has(one.item));
      if (!entry) break;
      this.show("saving");
      try {
        const { revision } = await send("PUT", `/v1/annotations/${encodeURIComponent(entry.item)}`, { token: entry.token, revision: entry.revision, answers: entry.answers });
        this.tries = 0;
        this.settled(entry, { revision, token: entry.token });
      } catch (error) {
        if (error.status === 409) { if (!(await this.resolve(entry))) left.add(entry.item); continue; }
        if (!error.status || error.status >= 500 || error.status === 429) { this.later(); return false; }
        left.add(entry.item);
        this.show("refused", error.message, entry);
      }
    }
    if (!left.size) this.show("saved");
    return !left.size;
  }

  // What was sent is stored; what changed meanwhile goes on from there.
  settled(entry, { revision, token }) {
    const now = this.find(entry.item);
    if (now && now.at !== entry.at) this.keep({ ...now, revision, token });
    else this.drop(entry.item);
    this.show("stored", null, { ...entry, revision, token });
  }

  later() {
    const wait = Math.min(1000 * 2 ** this.tries++, LONGEST_WAIT);
    this.show("offline", null, null);
    this.timer = setTimeout(() => this.again(), wait);
  }

  // The claim was lost or the draft has changed: claim again, and see what is stored.
  async resolve(entry) {
    let stored;
    try {
      stored = await send("POST", `/v1/queues/${encodeURIComponent(entry.queue)}/claim`, { item_id: entry.item, annotator: this.annotator });
    } catch (error) {
      if (!error.status || error.status >= 500) { this.later(); return false; }
      this.show("lost", error.message, entry);
      return false;
    }
    if (!stored.token) { this.show("lost", "nothing is left to claim", entry); return false; }
    const { token, revision } = stored;
    if (isSame(stored.draft, entry.answers)) { this.settled(entry, { revision, token }); return true; }
    let choice = "mine";
    if (revision !== entry.revision) choice = await this.ask(entry, stored);
    if (!choice) return false;
    if (choice === "theirs") { this.drop(entry.item); location.reload(); return false; }
    this.keep({ ...(this.find(entry.item) ?? entry), revision, token });
    this.show("stored", null, { ...entry, revision, token });
    return true;
  }
}
