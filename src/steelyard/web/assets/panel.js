// A row opens beside its table, or over it; the address keeps which.
import { addressWith, fetchPart, find, findAll, isAside, isTyping, newest, on, onClick } from "./page.js";

const OPEN = "open";

export function startPanel() {
  const split = find("[data-panel]");
  if (!split) return;
  const covers = matchMedia("(max-width: 1120px)"); // as in web.css
  const fetchSide = newest((signal, address) => fetchPart(address, ".side", signal));
  let covered = [];
  const rows = () => findAll("tr[data-row]", split);
  const current = () => find("tr[aria-current]", split);

  async function open(row, { keep = true, takesFocus = false } = {}) {
    current()?.removeAttribute("aria-current");
    row.ariaCurrent = "true";
    if (keep) remember(row.dataset.row, !find(".side", split));
    const part = await fetchSide(row.dataset.panel);
    if (part === undefined) return;
    const old = find(".side", split);
    const hadFocus = old?.contains(document.activeElement);
    old?.remove();
    cover();
    if (!part) return;
    split.append(part);
    row.scrollIntoView({ block: "nearest" });
    cover();
    const all = rows();
    find("[data-panel-say]", split).textContent =
      `Row ${all.indexOf(row) + 1} of ${all.length}: ${find("h2", part).textContent}`;
    if (takesFocus || hadFocus || covers.matches) find("h2 a", part).focus();
  }

  // What the panel covers is out of reach.
  function cover() {
    for (const one of covered) one.inert = false;
    covered = [];
    const panel = covers.matches && find(".side", split);
    for (let one = panel; one && one !== document.body; one = one.parentElement) {
      for (const other of one.parentElement.children) {
        if (other === one || other.inert || other.matches("dialog, [role=status]")) continue;
        other.inert = true;
        covered.push(other);
      }
    }
  }

  function close({ keep = true } = {}) {
    const row = current();
    if (row) row.ariaCurrent = null;
    find(".side", split)?.remove();
    cover();
    if (keep) remember(null);
    row?.querySelector("a")?.focus();
  }

  // Back closes the panel; rows that follow replace the first.
  function remember(name, isNew = false) {
    history[isNew ? "pushState" : "replaceState"](null, "", addressWith(OPEN, name));
  }

  function follow() {
    const name = new URL(location).searchParams.get(OPEN);
    const row = name !== null && rows().find((one) => one.dataset.row === name);
    if (row) open(row, { keep: false });
    else if (find(".side", split)) close({ keep: false });
  }

  function step(by) {
    const all = rows();
    const place = all.indexOf(current()) + by;
    if (all[place]) open(all[place]);
  }

  onClick("[data-panel-close]", (_, event) => !isAside(event) && close(), split);
  onClick("[data-panel-step]", (button) => step(Number(button.dataset.panelStep)), split);
  onClick("tr[data-row]", (row, event) => {
    if (isAside(event) || (event.target.closest("a") && !event.target.closest(".row-link"))) return false;
    return open(row, { takesFocus: event.detail === 0 });
  }, split);
  on(covers, "change", cover);
  on(document, "keydown", (event) => {
    if (isTyping(event) || find("dialog[open]") || !find(".side", split)) return;
    const act = { Escape: close, ArrowDown: () => step(1), ArrowUp: () => step(-1) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  on(window, "popstate", follow);
  follow();
}
