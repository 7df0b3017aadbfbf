// What every page has. Pages work without it; it adds what a server cannot do.
import { dropSentDraft } from "./draft.js";
import { startLive } from "./live.js";
import { startPanel } from "./panel.js";
import { startSwitcher } from "./switcher.js";
import { startTables } from "./tables.js";
import { attempt, copyText, find, on, onClick } from "./page.js";

function startTheme() {
  const root = document.documentElement;
  onClick("[data-theme-toggle]", () => {
    const chosen = root.dataset.theme;
    const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    attempt(() => localStorage.setItem("theme", root.dataset.theme));
  });
}

// [data-copy] copies the text of the element that it names, or the address of the page;
// [data-copy-from] what another address answers.
function startCopying() {
  onClick("[data-copy], [data-copy-from]", async (button) => {
    const { copy, copyFrom, copied } = button.dataset;
    const source = copy && find(copy);
    const text = copyFrom ? await (await fetch(copyFrom)).text() : source?.value ?? source?.textContent ?? location.href;
    copyText(text, copied);
  });
}

// [data-confirm] asks before a form is sent that cannot be undone.
function startConfirming() {
  on(document, "submit", (event) => {
    const question = event.submitter?.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });
}

dropSentDraft();
startTheme();
startConfirming();
startCopying();
startTables(document);
startSwitcher();
startPanel();
startLive();
