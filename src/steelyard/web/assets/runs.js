// Lists of runs stay up to date without a reload: every few seconds while something is at work,
// and when the page is looked at again.
import { fetchPart, replaceRows } from "./page.js";

const EVERY = 2500;
let timer;
let isBusy = false;

const shown = () => document.querySelector("tbody[data-renew]");

async function renew() {
  const old = shown();
  if (!old || isBusy || document.hidden) return;
  isBusy = true;
  try {
    const fresh = await fetchPart(old.dataset.renew, "tbody[data-renew]");
    if (fresh) replaceRows(old, fresh);
  } catch {
    // The server is away for a moment; the next turn asks again.
  } finally {
    isBusy = false;
    plan();
  }
}

function plan() {
  clearTimeout(timer);
  if (shown()?.hasAttribute("data-active")) timer = setTimeout(renew, EVERY);
}

document.addEventListener("visibilitychange", renew);
addEventListener("focus", renew);
plan();
