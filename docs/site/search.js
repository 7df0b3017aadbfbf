// Finds the sections that hold most of what was typed; rare words count more. A message may be
// pasted with its own names and numbers: words that no page has count nothing.
"use strict";
(() => {
  const MOST = 12;
  // The share of the weight of the words that a section must hold.
  const LEAST = 0.6;
  const field = document.getElementById("search");
  const found = document.getElementById("found");
  const count = document.getElementById("count");
  const results = document.getElementById("results");
  const root = document.documentElement.dataset.root;
  let sections = null;

  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const flat = (text) => ` ${words(text).join(" ")} `;

  // A page from a folder may not read a file, but it may load a script.
  function load() {
    if (sections) return Promise.resolve();
    return new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = `${root}/search-index.js`;
      script.onload = () => {
        sections = SECTIONS.map(([address, title, heading, anchor, text]) => ({
          address, title, heading, anchor, text,
          title_words: flat(title), heading_words: flat(heading), text_words: flat(text),
        }));
        resolve();
      };
      document.head.append(script);
    });
  }

  // What is still being typed may be the beginning of a word.
  const has = (text, word) => text.includes(` ${word}`);

  function matches(query) {
    const asked = words(query);
    const weights = new Map();
    for (const word of new Set(asked)) {
      const holding = sections.filter((one) => has(one.title_words + one.heading_words + one.text_words, word));
      weights.set(word, holding.length ? Math.log(1 + sections.length / holding.length) : 0);
    }
    const total = [...weights.values()].reduce((sum, one) => sum + one, 0);
    if (!total) return [];
    const scored = [];
    for (const [place, section] of sections.entries()) {
      let held = 0;
      let score = 0;
      for (const [word, weight] of weights) {
        const inHeading = has(section.heading_words, word);
        const inTitle = has(section.title_words, word);
        if (!inHeading && !inTitle && !has(section.text_words, word)) continue;
        held += weight;
        score += weight * (1 + (inHeading ? 1.5 : 0) + (inTitle ? 0.5 : 0));
      }
      if (held < LEAST * total) continue;
      for (let next = 1; next < asked.length; next += 1) {
        const pair = `${asked[next - 1]} ${asked[next]}`;
        if (has(section.heading_words, pair)) score += 2 * weights.get(asked[next]);
        else if (has(section.text_words, pair)) score += weights.get(asked[next]);
      }
      // Pages stand in the order of need.
      scored.push({ section, score: score * (1 - (0.4 * place) / sections.length) });
    }
    return scored.sort((a, b) => b.score - a.score);
  }

  // The text around the first of the words, with all of them marked.
  function excerpt(text, query) {
    const asked = words(query).map((word) => word.replace(/[^\p{L}\p{N}_]/gu, ""));
    const mark = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${asked.join("|")})[\\p{L}\\p{N}_]*`, "giu");
    const first = Math.max(0, text.search(mark) - 60);
    const part = text.slice(first, first + 220);
    const line = document.createElement("p");
    let end = 0;
    if (first) line.append("… ");
    for (const hit of part.matchAll(mark)) {
      line.append(part.slice(end, hit.index));
      const marked = document.createElement("mark");
      marked.textContent = hit[0];
      line.append(marked);
      end = hit.index + hit[0].length;
    }
    line.append(part.slice(end));
    return line;
  }

  function show(query) {
    const hits = words(query).length ? matches(query) : [];
    found.hidden = !words(query).length;
    count.textContent = hits.length ? `${hits.length} sections` : "Nothing found. Fewer words may do.";
    results.replaceChildren(
      ...hits.slice(0, MOST).map(({ section }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `${root}/${section.address}#${section.anchor}`;
        link.textContent = section.heading === section.title ? section.title : `${section.title} › ${section.heading}`;
        item.append(link, excerpt(section.text, query));
        return item;
      }),
    );
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", () => load().then(() => show(field.value)));
  results.addEventListener("click", () => { found.hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape") {
      found.hidden = true;
    } else if (event.key === "Enter" && document.activeElement === field) {
      results.querySelector("a")?.click();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[role=search]")) found.hidden = true;
  });
})();
