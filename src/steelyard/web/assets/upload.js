// A file that is too large for an editor is sent as it is.
import { say, send } from "./page.js";

export const MOST_SHOWN = 1024 * 1024;

export async function sendWhole(form, file) {
  const { version, strict } = form.elements;
  const query = new URLSearchParams({ name: file.name, ...(version.value && { version: version.value }), strict: strict.checked });
  say(`Sending ${file.name} …`);
  try {
    const { ref } = await send("POST", `${form.dataset.upload}?${query}`, file);
    location.assign(`/datasets/${encodeURIComponent(ref)}?saved=true`);
  } catch (error) {
    say(error.message);
  }
}
