// A text with line numbers, checked while it is written. The form of [data-editor] is sent with
// action=check; the parts of the answer, [data-editor-part], take the places of those of the page.
import { keepDraft } from "./draft.js";
import { fetchPage, make, say } from "./page.js";
import { MOST_SHOWN, sendWhole } from "./upload.js";

const WAIT = 350;
const MOST_LIVE = 400_000;
const MOST_LINES = 20_000;

export function startEditor(form) {
  const text = form.querySelector("[data-editor-text]");
  const lines = form.querySelector("[data-editor-lines]");
  const state = form.querySelector("[data-editor-state]");
  const parts = () => [...document.querySelectorAll("[data-editor-part]")];
  let asked, timer;

  function number() {
    const count = Math.min(MOST_LINES, text.value.split("\n").length);
    while (lines.children.length > count) lines.lastElementChild.remove();
    for (let line = lines.children.length + 1; line <= count; line++) {
      lines.append(make("li", { id: `L${line}`, textContent: line }));
    }
    text.rows = Math.max(20, count);
  }

  function mark() {
    for (const item of lines.querySelectorAll(".err, .warn")) item.removeAttribute("class");
    for (const link of document.querySelectorAll("a[data-line]")) {
      const item = lines.children[link.dataset.line - 1];
      if (item && !item.classList.contains("err")) item.className = link.dataset.mark;
    }
  }

  function jump(line) {
    const all = text.value.split("\n");
    const start = all.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
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

  async function ask(action) {
    asked?.abort();
    asked = new AbortController();
    const body = new URLSearchParams(new FormData(form));
    body.set("action", action);
    return fetchPage(form.getAttribute("action"), { method: "POST", body, signal: asked.signal });
  }

  async function check() {
    if (text.value.length > MOST_LIVE) {
      state.textContent = "too long to be checked while you type";
      return;
    }
    state.textContent = "checking …";
    try {
      renew(await ask("check"));
      state.textContent = "checked as you type";
    } catch (error) {
      if (error.name !== "AbortError") state.textContent = "the server does not answer; checked when it does";
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

  text.addEventListener("input", () => { number(); soon(); });
  form.addEventListener("change", (event) => { if (event.target.matches("[data-editor-check]")) check(); });
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("a[data-line]");
    if (link) { event.preventDefault(); jump(Number(link.dataset.line)); return; }
    const mend = event.target.closest?.("button[data-editor-mend]");
    if (!mend) return;
    event.preventDefault();
    const page = await ask(mend.value);
    const mended = page.querySelector("[data-editor-text]");
    if (mended) { change(mended.value); say("Changed. Ctrl+Z brings back what was there"); }
  });
  for (const file of form.querySelectorAll("[data-editor-file]")) {
    file.closest("[hidden]")?.removeAttribute("hidden");
    file.addEventListener("change", async () => {
      const chosen = file.files[0];
      if (!chosen) return;
      if (form.dataset.upload && chosen.size > MOST_SHOWN) { await sendWhole(form, chosen); return; }
      for (const field of form.querySelectorAll("[data-editor-name]")) field.value = chosen.name;
      change(await chosen.text());
      file.value = "";
    });
  }
  keepDraft(form, text);
  number();
  mark();
  if (text.value && (!text.dataset.checked || text.value !== text.defaultValue)) check();
}

for (const form of document.querySelectorAll("form[data-editor]")) startEditor(form);
