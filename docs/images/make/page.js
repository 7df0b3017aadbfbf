// One editor on an empty page; take.mjs tells it which file to show.
import * as monaco from "monaco-editor";
import { configureMonacoYaml } from "monaco-yaml";

const WORKERS = { editorWorkerService: "editor.worker.js", yaml: "yaml.worker.js" };
window.MonacoEnvironment = { getWorkerUrl: (_id, label) => WORKERS[label] };

window.openFile = ({ path, text, schemas }) => {
  const uri = monaco.Uri.file(path);
  // A page cannot read files, so it hands the language server all schemas; which of them
  // holds is told by the first line of the file alone.
  configureMonacoYaml(monaco, {
    schemas: schemas.map(({ name, schema }) => ({ uri: `file:///schemas/${name}`, fileMatch: [], schema })),
  });
  document.querySelector("#path").textContent = path;
  window.editor = monaco.editor.create(document.querySelector("#editor"), {
    model: monaco.editor.createModel(text, "yaml", uri),
    fontFamily: "DejaVu Sans Mono",
    fontSize: 15,
    lineHeight: 22,
    lineNumbersMinChars: 3,
    minimap: { enabled: false },
    overviewRulerLanes: 0,
    renderLineHighlight: "none",
    scrollbar: { vertical: "hidden", horizontal: "hidden" },
    hover: { above: false },
    lightbulb: { enabled: "off" },
    suggest: { showWords: false },
    occurrencesHighlight: "off",
  });
  window.markers = () => monaco.editor.getModelMarkers({ resource: uri });
};

window.placeCursor = (position) => {
  window.editor.setPosition(position);
  window.editor.focus();
};
