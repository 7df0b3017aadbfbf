// The filter box of a single-file report: shows the records that contain all words of it. Records in
// short form are data; some of those that fit are listed at a time.
const AT_ONCE = 100;
const box = document.querySelector("[data-filter]");
const said = document.querySelector("[data-filter-said]");

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function icon(name, className) {
  const { namespaceURI } = document.querySelector("svg");
  const [made, use] = ["svg", "use"].map((tag) => document.createElementNS(namespaceURI, tag));
  made.setAttribute("class", className);
  made.ariaHidden = "true";
  use.setAttribute("href", `#icon-${name}`);
  made.append(use);
  return made;
}

// A text in whatever direction its language is read.
const reading = (name, className, text) => Object.assign(element(name, className, text), { dir: "auto" });

function shortRecord([name, verdicts, question, texts]) {
  const said = verdicts.map(([kind, word]) => element("span", `v v-${kind}`, icon(kind, "i"), word));
  const parts = [["Question", question], ...texts].map(([label, text]) =>
    element("div", "", element("p", "lab", label), reading("div", "read plain", text)));
  const line = element("summary", "", icon("tri", "i tri"), ...said, element("b", "", name), reading("span", "q-clip clip", question));
  const fold = element("details", "fold", line, element("div", "rec-body", ...parts));
  fold.dataset.record = "";
  return fold;
}

// A list of records: whole ones are in the page, the others in its data.
class Group {
  constructor(part) {
    this.part = part;
    this.whole = [...part.querySelectorAll("[data-record]")];
    this.list = part.querySelector("[data-short-list]");
    this.more = part.querySelector("[data-short-more]");
    const data = part.querySelector("template[data-short]");
    this.rows = data ? JSON.parse(data.content.textContent) : [];
    this.more?.addEventListener("click", () => this.show(AT_ONCE));
  }

  get total() { return this.whole.length + this.rows.length; }

  filter(words) {
    const fits = (text) => words.every((word) => text.includes(word));
    if (words.length) {
      this.texts ??= this.whole.map((record) => record.textContent.toLowerCase());
      this.short ??= this.rows.map((row) => row.flat(Infinity).join(" ").toLowerCase());
    }
    let found = 0;
    this.whole.forEach((record, place) => {
      record.hidden = words.length > 0 && !fits(this.texts[place]);
      found += record.hidden ? 0 : 1;
    });
    this.left = this.rows.filter((_, place) => !words.length || fits(this.short[place]));
    found += this.left.length;
    this.list?.replaceChildren();
    this.show(words.length ? AT_ONCE : 0);
    this.part.hidden = words.length > 0 && !found;
    return found;
  }

  show(number) {
    if (!this.list) return;
    this.list.append(...this.left.splice(0, number).map(shortRecord));
    this.more.hidden = !this.left.length;
    this.more.textContent = `Show ${Math.min(AT_ONCE, this.left.length)} of ${this.left.length.toLocaleString("en")} more`;
  }
}

if (box) {
  const groups = [...document.querySelectorAll("[data-records]")].map((part) => new Group(part));
  const total = groups.reduce((sum, group) => sum + group.total, 0).toLocaleString("en");
  const filter = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = groups.reduce((sum, group) => sum + group.filter(words), 0);
    said.textContent = words.length ? `${found.toLocaleString("en")} of ${total} records` : `${total} records`;
  };
  box.closest(".search").hidden = false;
  box.addEventListener("input", filter);
  filter();
}
