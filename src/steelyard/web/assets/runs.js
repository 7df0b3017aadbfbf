// Lists of runs stay up to date: while something is at work, and when they are looked at again.
import { fetchPart, find, on, replaceRows } from "./page.js";

const EVERY = 2500;
let isBusy = false;

const shown = () => find("tbody[data-renew]");

async function renew() {
  const old = shown();
  if (!old || isBusy || document.hidden) return;
  isBusy = true;
  const fresh = await fetchPart(old.dataset.renew, "tbody[data-renew]").catch(() => null); // away for a moment
  isBusy = false;
  if (fresh) replaceRows(old, fresh);
}

on(document, "visibilitychange", renew);
on(window, "focus", renew);
setInterval(() => { if (shown()?.hasAttribute("data-active")) renew(); }, EVERY);
