// The adjudication page by keyboard, with the keys of the annotation page.
import { Questions } from "./answers.js";
import { listen, questionActions } from "./keys.js";
import { find, findAll, on } from "./page.js";

const form = find("form.rv-judge");
const questions = new Questions(form);
const note = document.getElementById("gold-note");
const links = findAll(".items a", form);
const follow = (by) => links[links.findIndex((one) => one.ariaCurrent) + by]?.click();
const shared = questionActions(questions);
const actions = {
  ...shared,
  previous_item: () => follow(-1),
  next_item: () => follow(1),
  submit: () => form.requestSubmit(),
  comment: () => note.focus(),
  leave_text(key, event) {
    if (event.target === note) questions.mark(questions.current); else return shared.leave_text(key, event);
  },
};
listen((row, key, event) => actions[row.action](key, event));
on(form, "change", ({ target }) => { if (target !== note) questions.note(target.closest("[data-ask]")); });
questions.mark(questions.nextOpen() ?? questions.all[0], false);
