// Ctrl/⌘+K: go to a page or a run by a part of its name.
import { fetchPart } from "./page.js";

export function startSwitcher() {
  const button = document.querySelector("[data-switcher]");
  if (!button) return;
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", "Go to");
  const input = document.createElement("input");
  input.className = "input";
  input.type = "search";
  input.placeholder = "Run, dataset, rubric, judge, suite, target …";
  input.setAttribute("aria-label", "Go to");
  const list = document.createElement("div");
  dialog.append(input, list);
  document.body.append(dialog);
  let asked;

  async function look() {
    asked?.abort();
    asked = new AbortController();
    try {
      const found = await fetchPart(`/goto?q=${encodeURIComponent(input.value)}`, ".goto", asked.signal);
      list.replaceChildren(...(found ? [found] : []));
      select(0);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  }
  const links = () => [...list.querySelectorAll("a")];
  const place = () => links().findIndex((link) => link.getAttribute("aria-selected") === "true");
  function select(number) {
    const all = links();
    all.forEach((link, at) => link.setAttribute("aria-selected", String(at === number)));
    all[number]?.scrollIntoView({ block: "nearest" });
  }
  function open() {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    look();
  }

  button.addEventListener("click", open);
  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    const all = links();
    if (event.key === "ArrowDown") select(Math.min(all.length - 1, place() + 1));
    else if (event.key === "ArrowUp") select(Math.max(0, place() - 1));
    else if (event.key === "Enter") all[place()]?.click();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
}
