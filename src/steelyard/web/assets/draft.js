// What is typed into an editor stays in this tab until it is saved or discarded.
import { attempt, find, findAll, on } from "./page.js";

const SENT = "draft-sent";
const WAIT = 200;

const stored = (work) => attempt(() => work(sessionStorage));

const fieldsOf = (form) => findAll("textarea, input:not([type=hidden], [type=file], [type=checkbox])", form);

export function keepDraft(form, text) {
  const key = `draft:${location.pathname}${location.search}`;
  const note = find("[data-draft-note]", form);
  const begun = text.defaultValue;
  const draft = stored((kept) => JSON.parse(kept.getItem(key)));
  if (draft?.begun === begun && draft.fields) {
    for (const field of fieldsOf(form)) field.value = draft.fields[field.name] ?? field.value;
    note.hidden = false;
  }
  let timer;
  const keep = () => {
    const fields = Object.fromEntries(fieldsOf(form).map((field) => [field.name, field.value]));
    stored((kept) => {
      if (text.value === begun) kept.removeItem(key);
      else kept.setItem(key, JSON.stringify({ begun, fields }));
    });
  };
  on(form, "input", () => { clearTimeout(timer); timer = setTimeout(keep, WAIT); });
  on(window, "pagehide", () => { if (timer) keep(); });
  on(form, "submit", () => stored((kept) => kept.setItem(SENT, JSON.stringify([location.pathname, key]))));
  on(find("button", note), "click", () => {
    stored((kept) => kept.removeItem(key));
    clearTimeout(timer);
    timer = undefined;
    for (const field of fieldsOf(form)) field.value = field.defaultValue;
    note.hidden = true;
    text.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// A draft that was sent and led to another page is saved there.
export function dropSentDraft() {
  const sent = stored((kept) => JSON.parse(kept.getItem(SENT)));
  if (!sent) return;
  stored((kept) => {
    kept.removeItem(SENT);
    if (location.pathname !== sent[0]) kept.removeItem(sent[1]);
  });
}
