// Loaded before the first paint, so that a chosen theme does not flash.
try {
  const kept = localStorage.getItem("theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
} catch { /* a private window */ }
