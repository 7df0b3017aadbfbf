// The page of a run: which columns to show, saved views, menus that close.
import { attempt, fetchPart, make, say } from "./page.js";

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
  return attempt(() => JSON.parse(localStorage.getItem(what))[keptFor]);
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

function currentQuery() {
  const query = new URLSearchParams(location.search);
  for (const name of ["cursor", "from", "open"]) query.delete(name);
  return query.toString();
}

// A view is what is filtered, sorted and shown, under a name.
function startViews() {
  const menu = place.querySelector("details");
  const form = menu.querySelector("form");
  const others = (name) => (kept(KEPT) ?? []).filter((view) => view.name !== name);
  function keepViews(views) {
    keep(KEPT, views);
    show();
  }
  function chip(view) {
    const link = make("a", { href: `${place.dataset.views}?${view.query}#records`, textContent: view.name });
    const remove = make("button", { type: "button", className: "btn quiet icon", textContent: "×", ariaLabel: `Delete the view ${view.name}`, onclick: () => keepViews(others(view.name)) });
    return make("span", { className: `chip view-chip${view.query === currentQuery() ? " on" : ""}` }, link, remove);
  }
  function show() {
    const views = others();
    menu.hidden = !currentQuery();
    place.replaceChildren(...views.map(chip), menu);
    place.hidden = menu.hidden && !views.length;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const name = form.elements.view.value.trim();
    if (!name) return;
    keepViews([...others(name), { name, query: currentQuery() }]);
    form.reset();
    menu.open = false;
    say("View kept in this browser, for runs of this dataset and rubric");
  });
  show();
}

startMenus();
startLoading();
if (place) {
  startColumns();
  startViews();
}
