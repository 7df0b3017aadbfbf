// The filter of the API's page works while one types; a link to a folded part opens it.
import { addressWith, find, findAll, on } from "./page.js";
const field = find("[data-docs-filter]");
const count = find("[data-docs-count]");

function filter() {
  const asked = field.value.trim().toLowerCase();
  let shown = 0;
  for (const group of findAll("[data-docs-group]")) {
    const parts = findAll("[data-docs-op]", group);
    for (const part of parts) part.hidden = !part.dataset.docsOp.toLowerCase().includes(asked);
    const left = parts.filter((part) => !part.hidden).length;
    group.hidden = !left;
    shown += left;
  }
  count.textContent = asked ? `${shown} shown` : "";
  history.replaceState(null, "", addressWith("q", field.value.trim()));
}

function openTarget() {
  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part?.tagName === "DETAILS") part.open = true;
}

on(field, "input", filter);
on(window, "hashchange", openTarget);
openTarget();
