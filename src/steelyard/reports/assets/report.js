// The filter box of a single-file report: shows the records that contain all words of it. Records in
// short form are data; some of those that fit are listed at a time.
const AT_ONCE = 100;
const box = document.querySelector("[data-filter]");
const said = document.querySelector("[data-filter-said]");

const copy = (name) => document.querySelector(`template[data-short-${name}]`).content.firstElementChild.cloneNode(true);

function shortRecord([name, verdicts, question, texts]) {
  const fold = copy("row");
  const [line, body] = fold.children;
  const title = line.querySelector("b");
  title.textContent = name;
  title.nextElementSibling.textContent = question;
  for (const [kind, word] of verdicts) {
    const verdict = copy("verdict");
    verdict.className = `v v-${kind}`;
    verdict.querySelector("use").setAttribute("href", `#icon-${kind}`);
    verdict.append(word);
    title.before(verdict);
  }
  for (const [label, text] of [["Question", question], ...texts]) {
    const part = copy("text");
    part.firstElementChild.textContent = label;
    part.lastElementChild.textContent = text;
    body.append(part);
  }
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
