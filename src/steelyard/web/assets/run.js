// The page of a run: which columns to show, saved views, menus that close.
import { fetchPart, say } from "./page.js";

const KEPT = "steelyard.views.of";
const COLUMNS = "steelyard.columns.of";

function startMenus() {
  const menus = () => document.querySelectorAll("details.menu[open]");
  document.addEventListener("click", (event) => {
    for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of menus()) {
      menu.open = false;
      menu.querySelector("summary").focus();
      event.stopImmediatePropagation();
    }
  }, true);
}

// Views and columns are kept in this browser, for every run of the same dataset and rubric.
const place = document.querySelector("[data-views]");
const keptFor = place?.dataset.keptFor;

function kept(what) {
  try { return JSON.parse(localStorage.getItem(what))?.[keptFor]; } catch { return undefined; }
}

function keep(what, value) {
  try {
    const all = JSON.parse(localStorage.getItem(what)) ?? {};
    localStorage.setItem(what, JSON.stringify({ ...all, [keptFor]: value }));
  } catch { say("The browser does not keep this"); }
}

function showColumnsMenu() {
  for (const menu of document.querySelectorAll("[data-columns]")) menu.hidden = false;
}

// The address has the columns too, so that a colleague sees the same.
function startColumns() {
  showColumnsMenu();
  document.addEventListener("renewed", showColumnsMenu);
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-columns] form");
    if (!form) return;
    event.preventDefault();
    const isUsual = event.submitter?.value === "usual";
    const boxes = [...form.querySelectorAll("input:checked")].map((box) => box.value);
    const chosen = isUsual ? "" : boxes.join("~") || "none";
    keep(COLUMNS, chosen);
    const address = new URL(location);
    address.searchParams.set("cols", chosen);
    if (!chosen) address.searchParams.delete("cols");
    address.hash = "records";
    location.assign(address);
  });
  const chosen = kept(COLUMNS);
  const query = new URLSearchParams(location.search);
  if (chosen && !query.has("cols")) {
    query.set("cols", chosen);
    location.replace(`${location.pathname}?${query}${location.hash}`);
  }
}

// What a menu or fold shows is fetched when it is opened.
function startLoading() {
  for (const fold of document.querySelectorAll("details[data-load]")) {
    fold.addEventListener("toggle", async () => {
      const part = await fetchPart(fold.dataset.load, "[data-loaded]");
      if (!part) return;
      part.removeAttribute("id");
      fold.querySelector("summary").nextElementSibling.replaceWith(part);
    }, { once: true });
  }
}

const keptViews = () => kept(KEPT) ?? [];
const keepViews = (views) => keep(KEPT, views);

function currentQuery() {
  const query = new URLSearchParams(location.search);
  for (const name of ["cursor", "from", "open"]) query.delete(name);
  return query.toString();
}

function button(className, text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

function viewChip(place, view, views) {
  const chip = document.createElement("span");
  chip.className = view.query === currentQuery() ? "chip view-chip on" : "chip view-chip";
  const link = document.createElement("a");
  link.href = `${place.dataset.views}?${view.query}#records`;
  link.textContent = view.name;
  const remove = button("btn quiet icon", "×", () => {
    keepViews(views.filter((one) => one.name !== view.name));
    showViews(place);
  });
  remove.setAttribute("aria-label", `Delete the view ${view.name}`);
  chip.append(link, remove);
  return chip;
}

function nameForm(place) {
  const form = document.createElement("form");
  const input = document.createElement("input");
  input.className = "input";
  input.required = true;
  input.maxLength = 60;
  input.placeholder = "Name of the view";
  input.setAttribute("aria-label", "Name of the view");
  const save = button("btn", "Save", () => form.requestSubmit());
  form.append(input, save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (!name) return;
    keepViews([...keptViews().filter((one) => one.name !== name), { name, query: currentQuery() }]);
    showViews(place);
    say("View kept in this browser, for runs of this dataset and rubric");
  });
  form.addEventListener("keydown", (event) => { if (event.key === "Escape") showViews(place); });
  return form;
}

function showViews(place) {
  const views = keptViews();
  const chips = views.map((view) => viewChip(place, view, views));
  if (currentQuery()) {
    chips.push(button("btn quiet", "Save view", (event) => {
      const form = nameForm(place);
      event.target.replaceWith(form);
      form.querySelector("input").focus();
    }));
  }
  place.replaceChildren(...chips);
  place.hidden = !chips.length;
}

startMenus();
startLoading();
if (place) {
  startColumns();
  showViews(place);
}
