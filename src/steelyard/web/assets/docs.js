// The filter of the API's page works while one types; a link to a folded part opens it.
const field = document.querySelector("[data-docs-filter]");
const count = document.querySelector("[data-docs-count]");

function filter() {
  const asked = field.value.trim().toLowerCase();
  let shown = 0;
  for (const group of document.querySelectorAll("[data-docs-group]")) {
    const parts = [...group.querySelectorAll("[data-docs-op]")];
    for (const part of parts) part.hidden = !part.dataset.docsOp.toLowerCase().includes(asked);
    const left = parts.filter((part) => !part.hidden).length;
    group.hidden = !left;
    shown += left;
  }
  count.textContent = asked ? `${shown} shown` : "";
  const address = new URL(location);
  if (asked) address.searchParams.set("q", field.value.trim());
  else address.searchParams.delete("q");
  history.replaceState(null, "", address);
}

function openTarget() {
  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (part instanceof HTMLDetailsElement) part.open = true;
}

field.addEventListener("input", filter);
addEventListener("hashchange", openTarget);
openTarget();
