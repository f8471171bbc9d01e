/**
 * The paths of the console, as its own router defines them (apps/console/src/screens/<name>/routes.ts; a test compares them). Any other
 * path is not found: a program that requests a missing path must not get the page as a response.
 */
export const consoleRoutes: readonly string[] = [
  "/",
  "/access",
  "/agent-metrics",
  "/audit",
  "/audit-log",
  "/collections",
  "/collections/$rid/$cid",
  "/collections/$rid/$cid/documents/$did",
  "/containers",
  "/containers/$c",
  "/deletions",
  "/governance",
  "/graph",
  "/jobs",
  "/memories",
  "/migrations",
  "/migrations/$mid",
  "/overview",
  "/search",
  "/sign-in",
  "/tools",
  "/trash",
  "/workflows",
  "/workflows/$wid",
];

const patterns = consoleRoutes.map((route) =>
  route.split("/").map((part) => (part.startsWith("$") ? undefined : part)),
);

/** A trailing slash makes no difference, as in the console's router. */
export function isConsoleRoute(path: string): boolean {
  const parts = (path === "/" ? path : path.replace(/\/$/, "")).split("/");
  return patterns.some(
    (pattern) =>
      pattern.length === parts.length &&
      pattern.every((part, i) => (part === undefined ? parts[i] !== "" : part === parts[i])),
  );
}
