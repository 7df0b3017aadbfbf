// Ctrl/⌘+K: go to a page or a run by a part of its name. The field keeps the focus and names the place
// that Enter leads to, for screen readers.
import { fetchPart, find, findAll, make, newest, on } from "./page.js";

export function startSwitcher() {
  const button = find("[data-switcher]");
  if (!button) return;
  const input = make("input", { className: "input", role: "combobox", placeholder: "Run, dataset, rubric, judge, suite, target …", ariaLabel: "Go to", ariaExpanded: "false", autocomplete: "off" });
  input.setAttribute("aria-controls", "goto-list");
  const list = make("div");
  const said = make("p", { className: "vh", role: "status" });
  const dialog = make("dialog", { ariaLabel: "Go to" }, input, list, said);
  document.body.append(dialog);
  let links = [], place = 0;

  const fetchPlaces = newest((signal) => fetchPart(`/goto?q=${encodeURIComponent(input.value)}`, ".goto", signal));
  async function look() {
    const found = await fetchPlaces();
    if (found) show(found);
  }
  function show(found) {
    links = findAll("a", found);
    if (links.length) Object.assign(found, { id: "goto-list", role: "listbox", ariaLabel: "Places" });
    links.forEach((link, at) => {
      Object.assign(link, { id: `goto-${at}`, role: "option", tabIndex: -1 });
      link.parentElement.role = "none";
    });
    input.ariaExpanded = String(links.length > 0);
    said.textContent = links.length ? `${links.length} found` : found.textContent;
    list.replaceChildren(found);
    select(0);
  }
  function select(number) {
    place = Math.max(0, Math.min(links.length - 1, number));
    links.forEach((link, at) => { link.ariaSelected = String(at === place); });
    input.setAttribute("aria-activedescendant", links[place]?.id ?? "");
    links[place]?.scrollIntoView({ block: "nearest" });
  }
  function open() {
    if (dialog.open) return;
    dialog.showModal();
    input.select();
    look();
  }

  on(button, "click", open);
  on(input, "input", look);
  on(input, "keydown", (event) => {
    if (event.key === "ArrowDown") select(place + 1);
    else if (event.key === "ArrowUp") select(place - 1);
    else if (event.key === "Enter") links[place]?.click();
    else return;
    event.preventDefault();
  });
  on(dialog, "click", (event) => { if (event.target === dialog) dialog.close(); });
  on(document, "keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
}
