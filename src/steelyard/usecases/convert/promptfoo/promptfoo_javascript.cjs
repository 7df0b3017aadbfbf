// Runs one JavaScript assertion of promptfoo on one answer.
// In: a JSON object on stdin with `candidate_answer`, `question` and `config`.
// Out: a JSON object on stdout with `score`, `verdict` and `reasoning`.
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const AsyncFunction = (async () => {}).constructor;

function inline(code) {
  const text = code.trim();
  const isBody = text.includes("\n") || /^(return|const|let|var|if|for|throw|try)\b/.test(text);
  return new AsyncFunction("output", "context", "require", isBody ? text : `return (${text.replace(/;$/, "")})`);
}

async function fromFile(file, name) {
  const loaded = await import(pathToFileURL(path.resolve(file)).href);
  const exported = loaded.default ?? loaded;
  const found = name ? exported[name] ?? loaded[name] : exported.default ?? exported;
  if (typeof found !== "function") {
    throw new Error(`${file} exports no function${name ? ` '${name}'` : ""}`);
  }
  return found;
}

function graded(result, threshold) {
  if (typeof result === "boolean") {
    return { score: result ? 1 : 0, verdict: result ? "pass" : "fail", reasoning: `returned ${result}` };
  }
  if (typeof result === "number") {
    const passed = threshold === undefined ? result > 0 : result >= threshold;
    return { score: result, verdict: passed ? "pass" : "fail", reasoning: `returned ${result}` };
  }
  if (result && typeof result === "object" && "pass" in result) {
    const score = typeof result.score === "number" ? result.score : result.pass ? 1 : 0;
    const passed = Boolean(result.pass) && (threshold === undefined || score >= threshold);
    return { score, verdict: passed ? "pass" : "fail", reasoning: String(result.reason ?? "") };
  }
  throw new Error(`an assertion returns a boolean, a number or {pass, score, reason}, not ${JSON.stringify(result)}`);
}

const fold = (text) => text.toLowerCase();
const has = (output, ignoring) => (text) =>
  ignoring ? fold(output).includes(fold(text)) : output.includes(text);

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function lookedFor({ type, value }, changed) {
  const output = typeof changed === "string" ? changed : JSON.stringify(changed);
  const found = has(output, type.startsWith("icontains"));
  const checks = {
    equals: () => output === value,
    contains: () => found(value),
    icontains: () => found(value),
    "contains-any": () => value.some(found),
    "icontains-any": () => value.some(found),
    "contains-all": () => value.every(found),
    "icontains-all": () => value.every(found),
    "starts-with": () => output.startsWith(value),
    regex: () => new RegExp(value).test(output),
    "is-json": () => isJson(output),
  };
  const pass = checks[type]();
  return { pass, reason: `${type} ${pass ? "holds for" : "does not hold for"} ${output.slice(0, 200)}` };
}

// An answer of tool calls alone is their list, with each in the forms of OpenAI and of Gemini.
function answered({ candidate_answer: text, output_messages: messages = [] }) {
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  if (text.trim() || !calls.length) {
    return text;
  }
  return calls.map(({ id, tool: name, input = {} }) => ({
    id,
    type: "function",
    function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input) },
    functionCall: { name, args: input },
  }));
}

async function load({ code, file, function: name }) {
  return file ? fromFile(file, name) : inline(code);
}

async function main() {
  const data = JSON.parse(fs.readFileSync(0, "utf8"));
  const { transforms = [], look_for: wanted, vars, config, threshold, binary } = data.config;
  const context = { vars, prompt: data.question, config, test: { vars }, providerResponse: { output: answered(data) } };
  let output = answered(data);
  for (const transform of transforms) {
    output = await (await load(transform))(output, context, require);
  }
  const result = wanted ? lookedFor(wanted, output) : await (await load(data.config))(output, context, require);
  const made = graded(result, threshold);
  if (binary) {
    made.score = made.verdict === "pass" ? 1 : 0;
  }
  process.stdout.write(JSON.stringify(made));
}

main().catch((error) => {
  process.stderr.write(`${error && error.stack ? error.stack : error}\n`);
  process.exitCode = 1;
});
