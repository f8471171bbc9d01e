// Sets the colours before the first paint, so that a dark page does not flash white. The same rule is in src/app/theme.ts.
(function () {
  var kept = null;
  try {
    kept = localStorage.getItem("pinakes.theme");
  } catch (_) {
    // A browser that keeps nothing gets the colours of its system.
  }
  var dark = kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
})();
