/**
 * No two folders of packages/pinakes/src may import each other, directly or through others. A folder that has folders in it is a frame
 * around its parts (shared files below, composition above), so each file beside them counts on its own. Files of one folder may import each
 * other.
 */
import { posix } from "node:path";
import { importsOf, isTest } from "./code.ts";
import type { Finding, Tree } from "./tree.ts";

const source = "packages/pinakes/src/";

export function folderCycles(tree: Tree): Finding[] {
  const files = [...tree.keys()].filter(
    (path) => path.startsWith(source) && path.endsWith(".ts") && !isTest(path) && !path.includes("/assembly/"),
  );
  const folders = new Set(files.map((path) => posix.dirname(path)));
  const isFrame = (folder: string): boolean => [...folders].some((other) => other.startsWith(`${folder}/`));
  const frames = new Set([...folders].filter(isFrame));
  const nodeOf = (path: string): string => (frames.has(posix.dirname(path)) ? path : posix.dirname(path));
  const edges = new Map<string, Map<string, string>>();
  for (const path of files)
    for (const { specifier } of importsOf(tree.get(path) ?? "")) {
      if (!specifier.startsWith(".")) continue;
      const target = posix.join(posix.dirname(path), specifier);
      const [from, to] = [nodeOf(path), nodeOf(target)];
      if (from === to || !tree.has(target)) continue;
      const out = edges.get(from) ?? new Map<string, string>();
      edges.set(from, out.set(to, path));
    }
  return cyclesOf(edges)
    .filter((cycle) => cycle.some((node) => !node.endsWith(".ts")))
    .map((cycle) => ({
      path: edges.get(cycle[0] as string)?.get(cycle[1] as string) as string,
      line: 0,
      rule: "direction",
      message: `closes a cycle of folders: ${[...cycle, cycle[0] as string].map((node) => node.replace(source, "")).join(" → ")}.`,
    }));
}

/** One cycle for each strongly connected component: a shortest one through its first node. */
function cyclesOf(edges: ReadonlyMap<string, ReadonlyMap<string, string>>): readonly (readonly string[])[] {
  const cycles: string[][] = [];
  const reported = new Set<string>();
  for (const start of [...edges.keys()].sort()) {
    if (reported.has(start)) continue;
    const before = new Map<string, string>();
    const queue = [start];
    for (let node = queue.shift(); node !== undefined && !before.has(start); node = queue.shift())
      for (const next of edges.get(node)?.keys() ?? [])
        if (!before.has(next)) {
          before.set(next, node);
          queue.push(next);
        }
    if (!before.has(start)) continue;
    const cycle = [start];
    for (let node = before.get(start) as string; node !== start; node = before.get(node) as string) cycle.unshift(node);
    // From the start, in the direction of the imports.
    const ordered = [start, ...cycle.filter((node) => node !== start)];
    for (const node of ordered) reported.add(node);
    cycles.push(ordered);
  }
  return cycles;
}
