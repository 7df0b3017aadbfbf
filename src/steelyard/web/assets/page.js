// Shared by the modules of all pages.

// Elements of the page, or of a part of it.
export const find = (selector, root = document) => root.querySelector(selector);
export const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

export const on = (target, kind, act, options) => target.addEventListener(kind, act, options);

// What a click on anything of a kind does; false leaves it to the browser.
export function onClick(selector, act, root = document) {
  on(root, "click", (event) => {
    const found = event.target.closest?.(selector);
    if (found && act(found, event) !== false) event.preventDefault();
  });
}

// A click that opens another tab or window.
export const isAside = (event) => event.ctrlKey || event.metaKey || event.shiftKey;

// The address of the page with a field in its query or, empty, without it.
export function addressWith(field, value) {
  const address = new URL(location);
  if (value) address.searchParams.set(field, value); else address.searchParams.delete(field);
  return address;
}

// A newer question ends the one before, which answers undefined.
export function newest(ask) {
  let asked;
  return async (...what) => {
    asked?.abort();
    asked = new AbortController();
    try { return await ask(asked.signal, ...what); } catch (error) { if (error.name !== "AbortError") throw error; }
  };
}

// What needs the browser's store; null where it has none, or no room.
export function attempt(work) {
  try { return work(); } catch { return null; }
}

export async function send(method, address, body) {
  const isFile = body instanceof File;
  const headers = { "content-type": isFile ? "application/octet-stream" : "application/json" };
  // Requests that change something repeat the token of the session.
  if (document.body.dataset.formToken) headers["x-form-token"] = document.body.dataset.formToken;
  const answer = await fetch(address, { method, headers, body: isFile ? body : JSON.stringify(body ?? {}) });
  const found = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const message = found.error?.message ?? `status ${answer.status}`;
    throw Object.assign(new Error(message), { status: answer.status });
  }
  return found;
}

// Another page, or this one anew.
export async function fetchPage(address, options) {
  const answer = await fetch(address, { headers: { accept: "text/html" }, ...options });
  if (answer.redirected && new URL(answer.url).pathname === "/login") location.reload();
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// A part of it; null where it has none.
export async function fetchPart(address, selector, signal) {
  return find(selector, await fetchPage(address, { signal }));
}

// An element with its properties and children.
export function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

let hiding;
export function say(text) {
  const toast = find("[data-toast]");
  toast.textContent = text;
  toast.hidden = !text;
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
  return event.isComposing || event.target.matches?.("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])");
}

// Rows that have not changed stay, with what is chosen, focused or open in them.
export function replaceRows(old, fresh) {
  const nameOf = (row) => row.id || row.dataset.row;
  const known = new Map([...old.rows].map((row) => [nameOf(row), row]));
  const rows = [...fresh.rows].map((row) => {
    const before = known.get(nameOf(row));
    if (before?.ariaCurrent) row.ariaCurrent = "true";
    return before?.isEqualNode(row) ? before : row;
  });
  old.toggleAttribute("data-active", fresh.hasAttribute("data-active"));
  if (rows.length === old.rows.length && rows.every((row, at) => row === old.rows[at])) return;
  const chosen = findAll("input:checked", old).map((input) => input.id);
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
