// A text with line numbers, checked while it is written: the form of [data-editor] is sent with
// action=check, and each [data-editor-part] of the answer replaces that of the page.
import { keepDraft } from "./draft.js";
import { fetchPage, find, findAll, make, newest, on, onClick, say } from "./page.js";
import { MOST_SHOWN, sendWhole } from "./upload.js";

const WAIT = 350;
const MOST_LIVE = 400_000;
const MOST_LINES = 20_000;

export function startEditor(form) {
  const text = find("[data-editor-text]", form);
  const lines = find("[data-editor-lines]", form);
  const state = find("[data-editor-state]", form);
  const parts = () => findAll("[data-editor-part]");
  let timer;

  function number() {
    const count = Math.min(MOST_LINES, text.value.split("\n").length);
    while (lines.children.length > count) lines.lastElementChild.remove();
    for (let line = lines.children.length + 1; line <= count; line++) {
      lines.append(make("li", { id: `L${line}`, textContent: line }));
    }
    text.rows = Math.max(20, count);
  }

  function mark() {
    for (const item of findAll(".err, .warn", lines)) item.removeAttribute("class");
    for (const link of findAll("a[data-line]")) {
      const item = lines.children[link.dataset.line - 1];
      if (item && !item.classList.contains("err")) item.className = link.dataset.mark;
    }
  }

  function jump(line) {
    const all = text.value.split("\n");
    const start = all.slice(0, line - 1).join(" ").length + Math.min(1, line - 1);
    text.focus({ preventScroll: true });
    text.setSelectionRange(start, start + (all[line - 1] ?? "").length);
    lines.children[line - 1]?.scrollIntoView({ block: "center" });
  }

  // What is typed in parts that are renewed stays: only parts that differ are replaced.
  function renew(page) {
    for (const old of parts()) {
      const fresh = page.getElementById(old.id);
      if (fresh && !fresh.isEqualNode(old)) old.replaceWith(fresh);
    }
    mark();
  }

  const ask = newest((signal, action) => {
    const body = new URLSearchParams(new FormData(form));
    body.set("action", action);
    return fetchPage(form.getAttribute("action"), { method: "POST", body, signal });
  });

  async function check() {
    if (text.value.length > MOST_LIVE) {
      state.textContent = "too long to be checked while you type";
      return;
    }
    state.textContent = "checking …";
    try {
      const page = await ask("check");
      if (!page) return;
      renew(page);
      state.textContent = "checked as you type";
    } catch {
      state.textContent = "the server does not answer; checked when it does";
    }
  }

  function change(value) {
    text.focus();
    text.select();
    // The only way that leaves the change to Undo; a browser without it sets the value.
    if (!document.execCommand("insertText", false, value)) text.value = value;
    number();
    check();
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(check, WAIT);
  }

  on(text, "input", () => { number(); soon(); });
  on(form, "change", (event) => { if (event.target.matches("[data-editor-check]")) check(); });
  onClick("a[data-line]", (link) => jump(Number(link.dataset.line)));
  onClick("button[data-editor-mend]", async (mend) => {
    const mended = (await ask(mend.value))?.querySelector("[data-editor-text]");
    if (mended) { change(mended.value); say("Changed. Ctrl+Z brings back what was there"); }
  });
  for (const file of findAll("[data-editor-file]", form)) {
    on(file, "change", async () => {
      const chosen = file.files[0];
      if (!chosen) return;
      if (form.dataset.upload && chosen.size > MOST_SHOWN) { await sendWhole(form, chosen); return; }
      for (const field of findAll("[data-editor-name]", form)) field.value = chosen.name;
      change(await chosen.text());
      file.value = "";
    });
  }
  keepDraft(form, text);
  number();
  mark();
  if (text.value && (!text.dataset.checked || text.value !== text.defaultValue)) check();
}

for (const form of findAll("form[data-editor]")) startEditor(form);
