// A page that follows a run: [data-live] has the address of its events; when something happens, every
// part with an id and data-live-part is renewed.
import { fetchPart, find, findAll, isTyping, on, replaceRows } from "./page.js";
import { startTables } from "./tables.js";

const AT_MOST_EVERY = 1000;
const SHARE = 10;
let isBusy = false;
let timer = null;
let wait = AT_MOST_EVERY;

export function startLive() {
  const addresses = new Set(findAll("[data-live]").map((part) => part.dataset.live));
  for (const address of addresses) {
    const events = new EventSource(address);
    for (const kind of ["state", "progress"]) on(events, kind, later);
    on(events, "end", () => { events.close(); finish(); });
    on(window, "pagehide", () => events.close());
  }
}

function later() {
  timer ??= setTimeout(renew, wait);
}

// A page that takes long is asked for less often: at most a tenth of the time goes into it.
async function renew() {
  timer = null;
  if (isBusy || document.hidden) { later(); return; }
  isBusy = true;
  const began = performance.now();
  const fresh = await fetchPart(location.href, "body").catch(() => null); // the next event asks again
  if (fresh) for (const old of findAll("[data-live-part]")) replace(old, fresh);
  wait = Math.max(AT_MOST_EVERY, SHARE * (performance.now() - began));
  isBusy = false;
}

// What somebody uses at the moment stays as it is.
function replace(old, body) {
  const fresh = find(`#${old.id}`, body);
  if (!fresh || find("details.menu[open]", old)) return;
  if (old.matches("tbody")) { replaceRows(old, fresh); return; }
  if (old.isEqualNode(fresh)) return;
  const active = document.activeElement;
  const focused = old.contains(active) && active.getAttribute("href");
  old.replaceWith(fresh);
  startTables(fresh);
  if (focused) findAll("a", fresh).find((link) => link.getAttribute("href") === focused)?.focus();
}

// The page of the finished run takes the place of this one, but not under somebody's hands.
function finish() {
  const isInUse = isTyping({ target: document.activeElement }) || find("details.menu[open], dialog[open]");
  if (isInUse) setTimeout(finish, AT_MOST_EVERY);
  else location.reload();
}
