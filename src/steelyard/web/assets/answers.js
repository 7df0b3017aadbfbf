// Questions of a page: what is answered, what is open, and which one has the keys.
import { find, findAll, on } from "./page.js";

const NUMBERS = new Set(["score", "yes_no"]);

export function partsOf(ask) {
  const name = ask.dataset.ask;
  const dot = name.indexOf(".");
  return [name.slice(0, dot), name.slice(dot + 1)];
}

// What stored answers say to a question.
export function answerOf(answers, ask) {
  const [scope, key] = partsOf(ask);
  return (scope === "trace" ? answers.trace : answers.turns?.[scope])?.[key];
}

// What the controls of a question say; undefined where it is not answered.
export function valueOf(ask) {
  const { type } = ask.dataset;
  if (type === "multi_select") {
    const chosen = findAll("input:checked", ask);
    if (!chosen.length) return undefined;
    return chosen.filter((box) => !("none" in box.dataset)).map((box) => box.value);
  }
  const control = find("input:checked, select, textarea, input[type=number]", ask);
  const text = control?.value ?? "";
  if (!text.trim()) return undefined;
  return NUMBERS.has(type) ? Number(text) : text;
}

export function show(ask, value) {
  for (const control of findAll("input, select, textarea", ask)) {
    if (control.type === "checkbox") {
      control.checked = "none" in control.dataset ? value?.length === 0 : Boolean(value?.includes(control.value));
    } else if (control.type === "radio") control.checked = value !== undefined && control.value === String(value);
    else control.value = value ?? "";
  }
}

export function labelOf(ask) {
  const head = find("legend, .q-label", ask).cloneNode(true);
  for (const part of findAll(".no, .req", head)) part.remove();
  return head.textContent.trim();
}

// An answer in the words that its question has for it.
export function wordsOf(ask, value) {
  if (value === undefined) return "no answer";
  const one = (part) => {
    const control = findAll("input, option", ask).find((found) => found.value === String(part));
    return control?.tagName === "OPTION" ? control.textContent : control?.closest("label")?.querySelector("span").firstChild.textContent.trim() || String(part);
  };
  return Array.isArray(value) ? value.map(one).join(", ") || "none of these" : one(value);
}

export class Questions {
  constructor(root) {
    this.all = findAll("[data-ask]", root);
    this.turns = findAll(".turn[id^='turn-']", root);
    this.current = null;
    this.open = new Set();
    this.byName = new Map(this.all.map((ask) => [ask.dataset.ask, ask]));
    this.noted = new Map(); // what each said last
    for (const ask of this.all) this.note(ask);
    let isDouble = false; // its second click takes nothing back
    on(root, "click", ({ target, detail }) => {
      const ask = target.closest("[data-ask]");
      if (target.matches("[data-clear]")) this.clear(ask);
      else if (target.type !== "radio") isDouble = detail > 1;
      else if (!isDouble && detail < 2 && this.isChosen(ask, target)) this.clear(ask);
    });
    on(root, "focusin", (event) => {
      const ask = event.target.closest("[data-ask]");
      if (ask) this.mark(ask, false);
    });
  }

  // Remember whether a question is answered.
  note(ask) {
    const value = valueOf(ask);
    const isOpen = value === undefined;
    this.noted.set(ask, value);
    ask.toggleAttribute("data-open-question", isOpen);
    if (isOpen && "required" in ask.dataset) this.open.add(ask); else this.open.delete(ask);
    return isOpen;
  }

  // To choose an optional answer again takes it back.
  isChosen(ask, control) {
    return !("required" in ask.dataset) && String(this.noted.get(ask)) === control.value;
  }

  clear(ask) {
    show(ask, undefined);
    ask.dispatchEvent(new Event("change", { bubbles: true }));
    this.mark(ask);
  }

  mark(ask, isMoved = true) {
    if (!ask) return;
    if (ask !== this.current) {
      this.current?.classList.remove("focus");
      if (this.current) this.current.ariaCurrent = null;
      this.current = ask;
      ask.classList.add("focus");
      ask.ariaCurrent = "true";
    }
    if (!isMoved) return;
    ask.tabIndex = -1;
    ask.focus({ preventScroll: true });
    ask.scrollIntoView({ block: "nearest" });
  }

  step(by) {
    const at = this.all.indexOf(this.current) + by;
    this.mark(this.all[(at + this.all.length) % this.all.length]);
  }

  goToTurn(by) {
    const here = document.activeElement.closest(".turn") ?? this.current?.closest(".turn");
    const next = this.turns[Math.min(Math.max(this.turns.indexOf(here) + by, 0), this.turns.length - 1)];
    if (!next) return false;
    next.scrollIntoView({ block: "start" });
    const ask = find("[data-ask]:not(:disabled)", next);
    if (ask) this.mark(ask);
    else { next.tabIndex = -1; next.focus({ preventScroll: true }); }
    return true;
  }

  // The first question that waits for an answer; comments wait only where they are required.
  nextOpen(after = null) {
    const from = after ? this.all.indexOf(after) + 1 : 0;
    const waits = (ask) => "openQuestion" in ask.dataset && (ask.dataset.type !== "comment" || "required" in ask.dataset);
    return this.all.slice(from).find(waits);
  }

  // Answers the marked question by a key, if there is such an answer.
  choose(key) {
    const ask = this.current;
    const control = ask?.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (control && control.type !== "checkbox" && this.isChosen(ask, control)) { this.clear(ask); return true; }
    if (control?.tagName === "OPTION") control.parentElement.value = control.value;
    else if (control?.type === "checkbox") control.checked = !control.checked;
    else if (control) control.checked = true;
    else {
      const number = /[\d-]/.test(key) && ask?.querySelector("input[type=number]");
      if (number) { number.value = ""; number.focus(); }
      return false;
    }
    control.closest("select, input").dispatchEvent(new Event("change", { bubbles: true }));
    if (control.type !== "checkbox" || "none" in control.dataset) this.mark(this.nextOpen(ask) ?? ask);
    return true;
  }
}
