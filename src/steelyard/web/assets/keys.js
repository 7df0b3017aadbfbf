// Keys of a review page, from the table that it holds, and its dialogs.

import { isTyping } from "./page.js";

const rows = JSON.parse(document.querySelector("[data-keys]").dataset.keys);
export const dialog = (name) => document.getElementById(`${name}-dialog`);
export function openDialog(name) {
  const found = dialog(name);
  if (found && !found.open) found.showModal();
  return Boolean(found);
}
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-open]");
  if (opener) { event.preventDefault(); openDialog(opener.dataset.open); }
  if (event.target.closest("[data-close]")) { event.preventDefault(); event.target.closest("dialog").close(); }
  if (event.target.matches("dialog.rv-dialog") && event.target !== dialog("conflict")) event.target.close();
});

export const rowOf = (key, hasControl, isTyping) => rows.find((one) => one.control === hasControl && one.keys.includes(key) && (one.typing || !isTyping));

// Calls `act` for each key of the table; it answers false where the key keeps its own meaning.
export function listen(act) {
  let hasTabbed = false; // into the options: there arrows choose, as they do in any form
  addEventListener("pointerdown", () => { hasTabbed = false; });
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || document.querySelector("dialog[open]")) return;
    hasTabbed ||= event.key === "Tab";
    if (hasTabbed && event.target.type === "radio" && event.key.startsWith("Arrow")) return;
    const isAltGr = event.getModifierState?.("AltGraph");
    if (event.altKey && !isAltGr) return;
    const hasControl = (event.ctrlKey || event.metaKey) && !isAltGr;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const row = rowOf(key, hasControl, isTyping(event));
    if (row && act(row, key, event) !== false) event.preventDefault();
  });
}

// What keys do on every page with questions.
export function questionActions(questions) {
  return {
    choose: (key) => questions.choose(key),
    previous_question: () => questions.step(-1),
    next_question: () => questions.step(1),
    previous_turn: () => questions.goToTurn(-1),
    next_turn: () => questions.goToTurn(1),
    help: () => openDialog("help"),
    leave_text: (_, event) => {
      const ask = event.target.closest?.("[data-ask]");
      if (!ask) return false;
      event.target.blur();
      questions.mark(ask);
    },
  };
}
