// A page that follows a run: [data-live="/v1/runs/…/events"] says where its events are, and every part
// with an id and data-live-part is renewed when something happens, from the page as it is now.
import { fetchPart, isTyping, replaceRows } from "./page.js";
import { startTables } from "./tables.js";

const AT_MOST_EVERY = 1000;
const SHARE = 10;
let isBusy = false;
let timer = null;
let wait = AT_MOST_EVERY;

export function startLive() {
  const addresses = new Set([...document.querySelectorAll("[data-live]")].map((part) => part.dataset.live));
  for (const address of addresses) {
    const events = new EventSource(address);
    for (const kind of ["state", "progress"]) events.addEventListener(kind, later);
    events.addEventListener("end", () => { events.close(); finish(); });
    addEventListener("pagehide", () => events.close());
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
  try {
    const fresh = await fetchPart(location.href, "body");
    if (fresh) for (const old of document.querySelectorAll("[data-live-part]")) replace(old, fresh);
    document.dispatchEvent(new Event("renewed"));
  } catch {
    // The server is away for a moment; the next event asks again.
  } finally {
    wait = Math.max(AT_MOST_EVERY, SHARE * (performance.now() - began));
    isBusy = false;
  }
}

// What somebody uses at the moment stays as it is.
function replace(old, body) {
  const fresh = body.querySelector(`#${old.id}`);
  if (!fresh || old.querySelector("details.menu[open]")) return;
  if (old.matches("tbody")) { replaceRows(old, fresh); return; }
  if (old.isEqualNode(fresh)) return;
  const focused = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  old.replaceWith(fresh);
  startTables(fresh);
  if (focused) [...fresh.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
}

// The page of the finished run takes the place of this one, but not under somebody's hands.
function finish() {
  const isInUse = isTyping({ target: document.activeElement }) || document.querySelector("details.menu[open], dialog[open]");
  if (isInUse) setTimeout(finish, AT_MOST_EVERY);
  else location.reload();
}
