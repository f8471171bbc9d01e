// Sets the colours before the first paint, so that a dark page does not flash white. The same rule is in src/app/theme.ts.
(function () {
  let kept = null;
  try {
    kept = localStorage.getItem("pinakes.theme");
  } catch {
    // A browser that keeps nothing gets the colours of its system.
  }
  const dark = kept === "dark" || (kept !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
})();
