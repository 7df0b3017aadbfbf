// A file that is too large for an editor is sent as it is.
import { formToken, say } from "./page.js";

export const MOST_SHOWN = 1024 * 1024;

export async function sendWhole(form, file) {
  const query = new URLSearchParams({ name: file.name });
  if (form.elements.version.value) query.set("version", form.elements.version.value);
  if (form.elements.strict.checked) query.set("strict", "true");
  const headers = { "content-type": "application/octet-stream" };
  if (formToken()) headers["x-form-token"] = formToken();
  say(`Sending ${file.name} …`);
  const answer = await fetch(`${form.dataset.upload}?${query}`, { method: "POST", headers, body: file });
  const found = await answer.json();
  if (answer.ok) location.assign(`/datasets/${encodeURIComponent(found.ref)}?saved=true`);
  else say(found.error.message);
}
