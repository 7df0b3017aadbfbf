// Shared by the modules of all pages.

// Requests that change something repeat the token of the session.
export function formToken() {
  return document.body.dataset.formToken ?? "";
}

export async function send(method, address, body) {
  const headers = { "content-type": "application/json" };
  if (formToken()) headers["x-form-token"] = formToken();
  const answer = await fetch(address, { method, headers, body: JSON.stringify(body ?? {}) });
  const found = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const message = found.error?.message ?? `status ${answer.status}`;
    throw Object.assign(new Error(message), { status: answer.status });
  }
  return found;
}

// The part of a page that another address shows; null where it cannot be had.
export async function fetchPart(address, selector, signal) {
  const answer = await fetch(address, { headers: { accept: "text/html" }, signal });
  if (answer.redirected && new URL(answer.url).pathname === "/login") location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.querySelector(selector);
}

let hiding;
export function say(text) {
  const toast = document.querySelector("[data-toast]");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { toast.hidden = true; }, 4000);
}

export async function copyText(text, said = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    say(said);
  } catch {
    say("The browser does not let this page copy");
  }
}

export function isTyping(event) {
  const where = event.target;
  return event.isComposing || where.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(where.tagName);
}

// Rows that have not changed stay, with what is chosen, focused or open in them.
export function replaceRows(old, fresh) {
  const nameOf = (row) => row.id || row.dataset.row;
  const known = new Map([...old.rows].map((row) => [nameOf(row), row]));
  const rows = [...fresh.rows].map((row) => {
    const before = known.get(nameOf(row));
    if (before?.hasAttribute("aria-current")) row.setAttribute("aria-current", "true");
    return before?.isEqualNode(row) ? before : row;
  });
  old.toggleAttribute("data-active", fresh.hasAttribute("data-active"));
  if (rows.length === old.rows.length && rows.every((row, at) => row === old.rows[at])) return;
  const chosen = [...old.querySelectorAll("input:checked")].map((input) => input.id);
  const active = document.activeElement;
  const focused = old.contains(active) && [nameOf(active.closest("tr")), active.id];
  old.replaceChildren(...rows);
  for (const id of chosen) {
    const input = document.getElementById(id);
    if (input) input.checked = true;
  }
  if (!focused) return;
  const row = rows.find((one) => nameOf(one) === focused[0]);
  (focused[1] ? document.getElementById(focused[1]) : row?.querySelector("a"))?.focus({ preventScroll: true });
}
