// The annotation page: autosave, undo, submit.
import { Questions, answerOf, labelOf, partsOf, show, valueOf, wordsOf } from "./answers.js";
import { dialog, listen, openDialog, questionActions, rowOf } from "./keys.js";
import { Outbox, isSame } from "./outbox.js";
import { find, findAll, isAside, make, on, onClick, say, send } from "./page.js";

const TEXT_MS = 500;
const root = find("[data-review]");
const form = find("[data-answer-form]", root);
const { item, who, queue, annotator } = root.dataset;

const filter = find("[data-filter]", root);
on(find("select", filter), "change", () => filter.requestSubmit());
const narrow = matchMedia("(max-width: 1120px)");
narrow.onchange = () => { find("[data-items]", root).open = !narrow.matches; };
narrow.onchange();
on(find("[data-list-toggle]"), "click", (event) => {
  const isHidden = root.toggleAttribute("data-list-hidden");
  event.currentTarget.ariaExpanded = String(!isHidden);
  document.cookie = `steelyard_list_hidden=1; path=/review; max-age=${isHidden ? 31536000 : 0}`;
});

const questions = new Questions(root);
function follow(name) {
  const link = find(`[data-go="${name}"]`, root);
  if (link) link.click(); else say(name === "next_item" ? "This is the last item" : "This is the first item");
}

const actions = {
  ...questionActions(questions),
  previous_item: () => follow("previous_item"),
  next_item: () => follow("next_item"),
  guidelines: () => openDialog("guidelines"),
  skip: () => openDialog("skip"),
  flag: () => openDialog("flag"),
  undo: () => find("[data-undo]")?.click(),
};

onClick("[data-act]", (button) => { button.closest("dialog")?.close(); actions[button.dataset.act](); });

// Without a connection a link leads to the error page of the browser.
let outbox;
async function leave(act) {
  const isReachable = navigator.onLine && await fetch(find("link[rel=stylesheet]").href, { cache: "no-store" }).catch(() => false);
  if (isReachable) act();
  else say("No connection: this item stays open. Answers are kept in this browser and sent by themselves when it is back");
}
onClick("a[href]:not([href^='#'], [download])", (link, event) => {
  if (isAside(event) || event.defaultPrevented) return false;
  leave(() => location.assign(link.href));
});
on(filter, "submit", (event) => { event.preventDefault(); leave(() => filter.submit()); });

// Keys pressed between a submission and the next item are meant for the next item.
const heldName = `steelyard-keys ${queue}`;
const held = JSON.parse(sessionStorage.getItem(heldName) ?? "[]");
sessionStorage.removeItem(heldName);
let holding = null;
function hold(key, hasControl) {
  holding.push([key, hasControl]);
  sessionStorage.setItem(heldName, JSON.stringify(holding));
}
function release() {
  if (holding?.length) say("Keys pressed meanwhile had no effect");
  holding = null;
  sessionStorage.removeItem(heldName);
}
function replay() {
  let hasAnswered = false; // to press "submit" twice submits nothing unseen
  for (const [key, hasControl] of held.splice(0)) {
    const action = rowOf(key, hasControl, false)?.action;
    if (holding) hold(key, hasControl);
    else if (action && (action !== "submit" || hasAnswered)) actions[action](key, { target: document.body });
    hasAnswered ||= action === "choose";
  }
}
listen((row, key, event) => {
  if (!holding) return actions[row.action]?.(key, event);
  if (!event.repeat) hold(key, row.control);
});

if (form) startAnswering();
else for (const name of ["choose", "clear"]) delete actions[name];

function startAnswering() {
  const state = { token: root.dataset.token, revision: Number(root.dataset.revision), answers: JSON.parse(root.dataset.answers) };
  const undone = [];
  const texts = new Map(); // timers of texts that are being typed
  let wantsSubmit = false;

  const saved = find("[data-saved]");
  function tell(text, kind) {
    saved.dataset.state = kind;
    find("span", saved).textContent = text;
    find("use", saved).setAttribute("href", { saved: "#pass", saving: "#live" }[kind] ?? "#invalid");
  }
  outbox = new Outbox({
    who, annotator, queue, ask,
    back() { if (wantsSubmit) submit(); },
    show(kind, message, entry) {
      if (kind === "stored" && entry.item === item) { state.revision = entry.revision; state.token = entry.token; }
      else if (kind === "saving") tell("Saving …", "saving");
      else if (kind === "saved") tell(`Saved ${new Date().toLocaleTimeString("en-GB")}`, "saved");
      else if (kind === "offline") tell(`Offline: ${outbox.entries().length} kept in this browser`, "offline");
      else if (kind === "lost") { tell("No longer yours", "lost"); say(`Your answers stay in this browser: ${message}`); }
      else if (kind === "refused") { tell("Not saved", "refused"); say(message); }
    },
  });

  function store(ask) {
    clearTimeout(texts.get(ask));
    texts.delete(ask);
    const [before, value] = [answerOf(state.answers, ask), valueOf(ask)];
    if (isSame(before, value)) return;
    undone.push([ask, before]);
    put(ask, value);
  }
  function put(ask, value) {
    const [scope, key] = partsOf(ask);
    const sheet = scope === "trace" ? state.answers.trace : (state.answers.turns[scope] ??= {});
    if (value === undefined) delete sheet[key]; else sheet[key] = value;
    if (scope !== "trace" && !Object.keys(sheet).length) delete state.answers.turns[scope];
    questions.note(ask);
    showOpen();
    say(""); // it was about the answers before
    outbox.keep({ item, ...state });
    outbox.flush();
  }
  function storeTexts() { for (const ask of [...texts.keys()]) store(ask); }

  const leftOver = find("[data-left-over]", root);
  const rowText = find("[data-row-text]", root);
  const counter = find("[data-turns]", root);
  function showOpen() {
    const open = questions.open.size;
    const first = questions.all.find((ask) => questions.open.has(ask));
    const number = first?.querySelector(".no")?.textContent;
    leftOver.hidden = !open;
    const named = number ? `Question ${number}` : first && labelOf(first);
    find("span", leftOver).textContent = open > 1 ? `${open} required answers are still open.` : `${named} is required and still open.`;
    const [due, waiting] = ["", "[data-open-question]"].map((more) => root.querySelectorAll(`[data-ask]:not([data-type=comment])${more}`).length);
    if (rowText && due) rowText.textContent = `draft, ${due - waiting} of ${due} answered`;
    if (counter) counter.textContent = `${Object.keys(state.answers.turns).length} of ${questions.turns.length} turns answered`;
  }

  on(form, "change", (event) => {
    const ask = event.target.closest("[data-ask]");
    if (!ask) return;
    if (event.target.type === "checkbox" && event.target.checked) {
      const isNone = "none" in event.target.dataset;
      for (const box of findAll("input:checked", ask)) if (box !== event.target && (isNone || "none" in box.dataset)) box.checked = false;
    }
    store(ask);
  });
  on(form, "input", (event) => {
    const ask = event.target.closest("[data-ask]");
    if (!ask || !event.target.matches("textarea, input[type=number]")) return;
    clearTimeout(texts.get(ask));
    texts.set(ask, setTimeout(() => store(ask), TEXT_MS));
  });
  on(window, "pagehide", storeTexts);

  function ask(entry, stored) {
    if (entry.item !== item) return null; // decided on its own page
    const box = dialog("conflict");
    find("[data-conflict-list]", box).replaceChildren(...questions.all.flatMap((one) => {
      const [mine, theirs] = [entry.answers, stored.draft].map((answers) => answerOf(answers, one));
      return isSame(mine, theirs) ? [] : [make("li", { textContent: `${labelOf(one)} Here: ${wordsOf(one, mine)}. There: ${wordsOf(one, theirs)}.` })];
    }));
    tell("Changed elsewhere", "conflict");
    box.showModal();
    return new Promise((resolve) => {
      box.onclick = (event) => {
        const choice = event.target.closest("[data-keep]")?.dataset.keep;
        if (choice) { box.close(); resolve(choice); }
      };
      box.oncancel = (event) => event.preventDefault();
    });
  }

  async function step(name, body, isLast = true) {
    if (holding) return false;
    if (isLast) holding = [];
    const isDone = await carryOut(name, body, isLast);
    if (!isDone) release();
    return isDone;
  }
  async function carryOut(name, body, isLast) {
    storeTexts();
    if (!(await outbox.flush()) && outbox.find(item)) {
      say("Your answers are kept in this browser until the server can be reached");
      return false;
    }
    try {
      await send("POST", `/v1/annotations/${encodeURIComponent(item)}/${name}`, body());
    } catch (error) {
      say(error.status ? error.message : "The server cannot be reached; try again");
      if (error.status === 409 && !outbox.find(item)) {
        outbox.keep({ item, ...state });
        outbox.flush();
      }
      return false;
    }
    if (!isLast) return true;
    const next = new URL(root.dataset.page, location);
    next.searchParams.set("done", item);
    location.assign(next);
    return true;
  }
  async function submit() {
    storeTexts();
    const open = questions.all.find((one) => questions.open.has(one));
    if (open) { questions.mark(open); say("A required question is still open"); return; }
    wantsSubmit = true;
    if (await step("submit", () => ({ token: state.token, revision: state.revision, answers: state.answers }))) return;
    wantsSubmit = Boolean(outbox.find(item));
    if (wantsSubmit) say("It is submitted as soon as the server can be reached");
  }
  const defer = () => step("defer", () => ({ token: state.token }));

  on(form, "submit", (event) => {
    event.preventDefault();
    ({ submit, defer })[event.submitter?.value]?.();
  });
  for (const [name, fields] of [["skip", (data) => ({ token: state.token, reason: data.get("reason").trim() || data.get("why") || "" })], ["flag", (data) => ({ kind: data.get("kind"), text: data.get("text").trim(), annotator })]]) {
    const box = dialog(name);
    // Typed words are a reason.
    on(box, "keydown", (event) => {
      if (event.target.type === "radio" && /^\S$/u.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) find("input[type=text], input:not([type]), textarea", box)?.focus();
    });
    on(find("form", box), "submit", async (event) => {
      event.preventDefault();
      const data = new FormData(event.target);
      if (name === "skip" && !fields(data).reason) { find("[data-no-reason]", box).hidden = false; return; }
      box.close();
      if ((await step(name, () => fields(data), name === "skip")) && name === "flag") say("Flagged");
    });
  }

  Object.assign(actions, {
    submit: () => submit(),
    defer: () => defer(),
    comment() {
      const near = questions.current?.closest(".turn")?.querySelector("textarea");
      const text = near ?? find(".rv-asks textarea", root) ?? find("[data-ask] textarea", root);
      if (!text) {
        const box = dialog("flag");
        openDialog("flag");
        find("[value=note]", box).checked = true;
        find("textarea", box).focus();
        return;
      }
      text.focus();
      text.scrollIntoView({ block: "nearest" });
    },
    undo() {
      storeTexts();
      const last = undone.pop();
      if (!last) {
        const reopen = find("[data-undo]");
        if (reopen) reopen.click(); else say("Nothing to undo; Backspace clears an answer");
        return;
      }
      const [one, value] = last;
      show(one, value);
      put(one, value);
      questions.mark(one);
    },
  });

  const kept = outbox.find(item);
  if (kept && !isSame(kept.answers, state.answers)) {
    const { trace, turns: sheets } = kept.answers;
    state.answers = { trace, turns: sheets };
    for (const one of questions.all) {
      show(one, answerOf(state.answers, one));
      questions.note(one);
    }
  } else if (kept) outbox.drop(item);
  if (outbox.entries().length) outbox.flush();
  showOpen();
  questions.mark(questions.nextOpen() ?? questions.all[0], false);
  replay();
}
