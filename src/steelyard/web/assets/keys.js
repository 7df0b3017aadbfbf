// Keys of a review page, from the table that it holds, and its dialogs.
import { find, isTyping, on, onClick } from "./page.js";

const rows = JSON.parse(find("[data-keys]").dataset.keys);
export const dialog = (name) => document.getElementById(`${name}-dialog`);
export function openDialog(name) {
  const found = dialog(name);
  if (found && !found.open) found.showModal();
  return Boolean(found);
}
onClick("[data-open]", (opener) => { openDialog(opener.dataset.open); });
onClick("[data-close]", (closer) => closer.closest("dialog").close());
on(document, "click", ({ target }) => { if (target.matches("dialog.rv-dialog:not(#conflict-dialog)")) target.close(); });

export const rowOf = (key, hasControl, isTyping) => rows.find((one) => one.control === hasControl && one.keys.includes(key) && (one.typing || !isTyping));

// Calls `act` for each key of the table; it answers false where the key keeps its own meaning.
export function listen(act) {
  let hasTabbed = false; // into the options: there arrows choose, as they do in any form
  on(window, "pointerdown", () => { hasTabbed = false; });
  on(document, "keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || find("dialog[open]")) return;
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
    clear: () => questions.current && questions.clear(questions.current),
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
