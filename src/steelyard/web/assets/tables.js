// Every table with data-csv can be copied or downloaded as CSV. Values that are several, or read
// otherwise, are in data-values; so are the names of the columns of a heading.
import { copyText, findAll, make } from "./page.js";

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Mn}\p{Me}\u115f\u1160\u3164\uffa0\u2800]/u;
const FORMULA = /^[=+\-@\u2212]/;
const NUMBER = /^[+\u2212-]?\d[\d,]*(\.\d+)?$/;

// The same rule as that of the server's exports: a spreadsheet would run what begins like a formula.
function isFormula(text) {
  const seen = [...text].find((sign) => !UNSEEN.test(sign)) ?? "";
  return FORMULA.test(seen.normalize("NFKC")) || /^[\t\r]/.test(text);
}

function written(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && isFormula(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(cell) {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  let text = "";
  while (walker.nextNode()) {
    const { data, parentElement, previousSibling } = walker.currentNode;
    // One text goes on behind what only makes it legible.
    const isSame = parentElement.matches(".unseen") || previousSibling?.matches?.("wbr, .unseen");
    if (!parentElement.closest("svg, .no-csv")) text += isSame ? data : ` ${data}`;
  }
  return text.replace(/\s+/g, " ").trim();
}

function valuesOf(cell) {
  if (cell.dataset.values) return JSON.parse(cell.dataset.values);
  const text = textOf(cell);
  const isNumber = cell.matches(".num") && NUMBER.test(text);
  return [isNumber ? Number(text.replaceAll(",", "").replace("\u2212", "-")) : text];
}

// Cells of a row, each with as many columns as its heading has.
function* columnsOf(row, widths) {
  let place = 0;
  for (const cell of row.cells) {
    const until = place + cell.colSpan;
    const width = widths ? widths.slice(place, until).reduce((sum, one) => sum + one, 0) : 1;
    place = until;
    if (cell.matches(".no-csv")) continue;
    const values = valuesOf(cell);
    for (let at = 0; at < Math.max(width, values.length); at += 1) yield values[at];
  }
}

function csvOf(table) {
  const head = table.tHead && [...table.tHead.rows].at(-1);
  const widths = head && [...head.cells].map((cell) => (cell.matches(".no-csv") ? 0 : valuesOf(cell).length));
  const rows = [...table.rows].filter((row) => !row.hidden && !row.matches(".no-csv"));
  return rows.map((row) => `${[...columnsOf(row, widths)].map(written).join(",")}\r\n`).join("");
}

// The server's own CSV of what a table shows a part of, where it has one.
export async function csvFor(table) {
  return table.dataset.csvHref ? (await fetch(table.dataset.csvHref)).text() : csvOf(table);
}

function download(name, text) {
  const href = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv" }));
  make("a", { href, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

// One button below a table; it unfolds.
export function startTables(root) {
  for (const table of findAll("table[data-csv]", root)) {
    const after = table.closest(".wrap") ?? table;
    if (after.nextElementSibling?.matches(".csv-tools")) continue;
    const action = (textContent, act) => make("button", { type: "button", className: "btn link", textContent, onclick: async () => act(await csvFor(table)) });
    after.after(make("details", { className: "csv-tools no-print" },
      make("summary", { textContent: "CSV", ariaLabel: `CSV of ${table.caption?.textContent ?? "the table"}` }),
      action("Copy as CSV", copyText),
      action("Download CSV", (text) => download(table.dataset.csv, text))));
  }
}
