// A row opens beside its table, or over it where there is no room; Esc closes it, arrows move.
// The address keeps what is open.
import { fetchPart, isTyping } from "./page.js";

const OPEN = "open";

export function startPanel() {
  const split = document.querySelector("[data-panel]");
  if (!split) return;
  const covers = matchMedia("(max-width: 1120px)"); // as in web.css: the panel lies over the page
  let asked;
  let covered = [];
  const rows = () => [...split.querySelectorAll("tr[data-row]")];
  const current = () => split.querySelector("tr[aria-current]");

  async function open(row, { keep = true, takesFocus = false } = {}) {
    current()?.removeAttribute("aria-current");
    if (!row) return close(keep);
    row.setAttribute("aria-current", "true");
    if (keep) remember(row.dataset.row);
    asked?.abort();
    asked = new AbortController();
    let part;
    try {
      part = await fetchPart(row.dataset.panel, ".side", asked.signal);
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return;
    }
    const old = split.querySelector(".side");
    const hadFocus = old?.contains(document.activeElement);
    old?.remove();
    cover();
    if (!part) return;
    split.append(part);
    row.scrollIntoView({ block: "nearest" });
    cover();
    const all = rows();
    split.querySelector("[data-panel-say]").textContent =
      `Row ${all.indexOf(row) + 1} of ${all.length}: ${part.querySelector("h2").textContent}`;
    if (takesFocus || hadFocus || covers.matches) part.querySelector("h2 a").focus();
  }

  // What the panel lies over is out of reach of the keyboard and of screen readers.
  function cover() {
    for (const one of covered) one.inert = false;
    covered = [];
    const panel = covers.matches && split.querySelector(".side");
    for (let one = panel; one && one !== document.body; one = one.parentElement) {
      for (const other of one.parentElement.children) {
        if (other === one || other.inert || other.matches("dialog, [role=status]")) continue;
        other.inert = true;
        covered.push(other);
      }
    }
  }

  function close(keep = true) {
    const row = current();
    row?.removeAttribute("aria-current");
    split.querySelector(".side")?.remove();
    cover();
    if (keep) remember(null);
    row?.querySelector("a")?.focus();
  }

  function remember(name) {
    const address = new URL(location);
    if (name === null) address.searchParams.delete(OPEN);
    else address.searchParams.set(OPEN, name);
    history.replaceState(null, "", address);
  }

  function step(by) {
    const all = rows();
    const place = all.indexOf(current()) + by;
    if (all[place]) open(all[place]);
  }

  split.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    if (event.target.closest("[data-panel-close]")) { event.preventDefault(); close(); return; }
    const by = event.target.closest("[data-panel-step]")?.dataset.panelStep;
    if (by) { event.preventDefault(); step(Number(by)); return; }
    const row = event.target.closest("tr[data-row]");
    if (!row || (event.target.closest("a") && !event.target.closest(".row-link"))) return;
    event.preventDefault();
    open(row, { takesFocus: event.detail === 0 }); // opened with a key
  });
  covers.addEventListener("change", cover);
  document.addEventListener("keydown", (event) => {
    if (isTyping(event) || document.querySelector("dialog[open]") || !split.querySelector(".side")) return;
    const act = { Escape: () => close(), ArrowDown: () => step(1), ArrowUp: () => step(-1) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  const name = new URL(location).searchParams.get(OPEN);
  const row = name !== null && rows().find((one) => one.dataset.row === name);
  if (row) open(row, { keep: false });
}
