// The page of a run: which columns to show, saved views, menus that close.
import { addressWith, attempt, fetchPart, find, findAll, make, on, say } from "./page.js";

const KEPT = "steelyard.views.of";
const COLUMNS = "steelyard.columns.of";

function startMenus() {
  const menus = () => findAll("details.menu[open]");
  on(document, "click", (event) => {
    for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
  });
  on(document, "keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of menus()) {
      menu.open = false;
      find("summary", menu).focus();
      event.stopImmediatePropagation();
    }
  }, true);
}

// Views and columns are kept in this browser, for every run of the same dataset and rubric.
const place = find("[data-views]");
const keptFor = place?.dataset.keptFor;

function kept(what) {
  return attempt(() => JSON.parse(localStorage.getItem(what))[keptFor]);
}

function keep(what, value) {
  const isKept = attempt(() => {
    localStorage[what] = JSON.stringify({ ...JSON.parse(localStorage.getItem(what)), [keptFor]: value });
    return true;
  });
  if (!isKept) say("The browser does not keep this");
}

// The address has the columns too, so that a colleague sees the same.
function startColumns() {
  on(document, "submit", (event) => {
    const form = event.target.closest("[data-columns] form");
    if (!form) return;
    event.preventDefault();
    const isUsual = event.submitter?.value === "usual";
    const boxes = findAll("input:checked", form).map((box) => box.value);
    const chosen = isUsual ? "" : boxes.join("~") || "none";
    keep(COLUMNS, chosen);
    const address = addressWith("cols", chosen);
    address.hash = "records";
    location.assign(address);
  });
  const chosen = kept(COLUMNS);
  if (chosen && !new URL(location).searchParams.has("cols")) location.replace(addressWith("cols", chosen));
}

// What a menu or fold shows is fetched when it is opened.
function startLoading() {
  for (const fold of findAll("details[data-load]")) {
    on(fold, "toggle", async () => {
      const part = await fetchPart(fold.dataset.load, "[data-loaded]");
      if (!part) return;
      part.removeAttribute("id");
      find("summary", fold).nextElementSibling.replaceWith(part);
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
  const menu = find("details", place);
  const form = find("form", menu);
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
  on(form, "submit", (event) => {
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
