// Bundles the page, opens it in Chromium and takes the pictures of docs/editor.md.
// node take.mjs SCHEMAS IMAGES: the folder that `steelyard schema -o` wrote, and where the pictures go.
import { cp, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import esbuild from "esbuild";
import puppeteer from "puppeteer-core";

const [folder, images] = process.argv.slice(2);
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const WIDTH = 940;
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".ttf": "font/ttf" };

// In each text a bar marks the cursor.
const KINDS = `# yaml-language-server: $schema=../schemas/check_rubric.schema.json
id: answer_quality
version: 1.2.0
scoring:
  combine: weighted_avg
checks:
  - id: no_excuses
    kind: |
`;
const SETTINGS = KINDS.replace("kind: |", "kind: must_not_contain\n    |");
const MISTAKE = `# yaml-language-server: $schema=schemas/project.schema.json
targets:
  live:
    provider: openai
    base_url: https://models.example.com/v1
    model: m-1
    max_con|curency: 64
`;
const RUBRIC = "rubrics/answer_quality.yaml";
const PICTURES = [
  { name: "editor-kinds", path: RUBRIC, text: KINDS, height: 500, show: complete("must_not_contain") },
  { name: "editor-settings", path: RUBRIC, text: SETTINGS, height: 390, show: complete("phrases") },
  { name: "editor-mistake", path: "steelyard.yaml", text: MISTAKE, height: 290, show: hover },
];

async function bundle() {
  await esbuild.build({
    entryPoints: {
      page: "page.js",
      "editor.worker": "node_modules/monaco-editor/esm/vs/editor/editor.worker.js",
      "yaml.worker": "node_modules/monaco-yaml/yaml.worker.js",
    },
    outdir: "out",
    bundle: true,
    minify: true,
    loader: { ".ttf": "file" },
    logLevel: "error",
  });
  await cp("page.html", "out/page.html");
}

function serve() {
  const server = createServer(async (request, response) => {
    const path = join("out", new URL(request.url, "http://localhost").pathname);
    try {
      const body = await readFile(path);
      response.setHeader("content-type", TYPES[path.slice(path.lastIndexOf("."))] ?? "text/plain");
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function readSchemas() {
  const names = await readdir(folder);
  return Promise.all(
    names.map(async (name) => ({ name, schema: JSON.parse(await readFile(join(folder, name), "utf8")) })),
  );
}

function complete(wanted) {
  return async (page) => {
    await page.evaluate(() => window.editor.trigger("picture", "editor.action.triggerSuggest"));
    await page.waitForSelector(".suggest-widget.visible .monaco-list-row", { timeout: 20000 });
    await page.evaluate(() => window.editor.trigger("picture", "toggleSuggestionDetails"));
    for (let step = 0; (await chosen(page)) !== wanted; step += 1) {
      if (step === 100) throw new Error(`the editor does not offer ${wanted}`);
      await page.keyboard.press("ArrowDown");
    }
  };
}

function chosen(page) {
  return page.$eval(".suggest-widget .monaco-list-row.focused .label-name", (row) => row.textContent);
}

async function hover(page) {
  await page.waitForFunction(() => window.markers().length > 0, { timeout: 20000 });
  await page.evaluate(() => window.editor.trigger("picture", "editor.action.showHover"));
  await page.waitForSelector(".monaco-hover:not(.hidden) .hover-row", { timeout: 20000 });
}

async function take(browser, address, { name, path, text, height, show }) {
  const page = await browser.newPage();
  await page.setViewport({ width: WIDTH, height: 800, deviceScaleFactor: 1.5 });
  await page.goto(`${address}/page.html`);
  await page.evaluate((file) => window.openFile(file), { path, text: text.replace("|", ""), schemas });
  const before = text.slice(0, text.indexOf("|")).split("\n");
  await page.evaluate((position) => window.placeCursor(position), {
    lineNumber: before.length,
    column: before.at(-1).length + 1,
  });
  await show(page);
  // The list and its details settle in several steps, of which the page does not tell the last.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await page.screenshot({ path: join(images, `${name}.png`), clip: { x: 0, y: 0, width: WIDTH, height } });
  await page.close();
}

const schemas = await readSchemas();
await bundle();
const server = await serve();
const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  for (const picture of PICTURES) {
    await take(browser, `http://127.0.0.1:${server.address().port}`, picture);
  }
} finally {
  await browser.close();
  server.close();
}
