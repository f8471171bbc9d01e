/**
 * The addresses that the web page knows, as its own router writes them (apps/console/src/screens/<name>/routes.ts; a test compares). What is
 * none of them is not found: a program that asks for a path that does not exist must not take the page for an answer.
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

/** A slash at the end changes nothing, as in the page's router. */
export function isConsoleRoute(path: string): boolean {
  const parts = (path === "/" ? path : path.replace(/\/$/, "")).split("/");
  return patterns.some(
    (pattern) =>
      pattern.length === parts.length &&
      pattern.every((part, i) => (part === undefined ? parts[i] !== "" : part === parts[i])),
  );
}
