/** Rules for documents: links and task paths exist, and every dependency has its reason. */
import { posix } from "node:path";
import { lineOf } from "./code.ts";
import type { Finding, Tree } from "./tree.ts";

export function links(tree: Tree): Finding[] {
  const folders = new Set(
    [...tree.keys()].flatMap((path) => path.split("/").map((_, i, names) => names.slice(0, i).join("/"))),
  );
  return [...tree]
    .filter(([path]) => path.endsWith(".md"))
    .flatMap(([path, text]) => {
      const prose = withoutCode(text);
      return [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].flatMap((match): Finding[] => {
        const target = decodeURI((match[1] as string).split("#")[0] as string);
        if (target === "" || /^[a-z]+:/i.test(target)) return [];
        const resolved = posix.join(posix.dirname(path), target).replace(/\/$/, "");
        if (tree.has(resolved) || folders.has(resolved) || resolved === ".") return [];
        return [{ path, line: lineOf(prose, match.index), rule: "links", message: `"${match[1]}" leads nowhere.` }];
      });
    });
}

function withoutCode(text: string): string {
  return text.replaceAll(/^(```|~~~)[\s\S]*?^\1|`[^`\n]*`/gm, (code) => code.replaceAll(/[^\n]/g, " "));
}

const tasks = "AGENTS.md";
/** Where a path of a task may begin. */
const taskRoots = ["", "packages/pinakes/src/"];

/** Every path in the column "path" of AGENTS.md exists; `<name>` and `*` stand for any name, `{a,b}` for each of them. */
export function taskPaths(tree: Tree): Finding[] {
  const paths = [...tree.keys()].join("\n");
  return (tree.get(tasks) ?? "").split("\n").flatMap((row, at) => {
    const cell = /^\| [^|]+ \| (.*) \|$/.exec(row)?.[1] ?? "";
    return [...cell.matchAll(/`([\w.{},*<>/-]+(?:\/|\.\w+))`/g)]
      .flatMap(([, path]) => alternatives(path as string))
      .filter((path) => !taskRoots.some((root) => isInTree(paths, root + path)))
      .map((path) => ({ path: tasks, line: at + 1, rule: "task-paths", message: `"${path}" does not exist.` }));
  });
}

function alternatives(path: string): string[] {
  const braces = /\{([^}]*)\}/.exec(path);
  return braces === null ? [path] : (braces[1] as string).split(",").map((name) => path.replace(braces[0], name));
}

function isInTree(paths: string, path: string): boolean {
  const pattern = path
    .replaceAll(/<[^>]*>|\*/g, "\0")
    .replaceAll(".", "\\.")
    .replaceAll("\0", "[^/\\n]+");
  return new RegExp(`^${pattern}${path.endsWith("/") ? "" : "$"}`, "m").test(paths);
}

const page = "docs/dependencies.md";

export function dependencies(tree: Tree): Finding[] {
  const text = tree.get(page) ?? "";
  return [...tree]
    .filter(([path]) => posix.basename(path) === "package.json")
    .flatMap(([path, json]) => {
      const manifest = JSON.parse(json) as Record<string, Record<string, string> | undefined>;
      const names = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"].flatMap((kind) =>
        Object.keys(manifest[kind] ?? {}),
      );
      return names
        .filter((name) => !text.includes(`\`${name}\``))
        .map((name) => ({ path, line: 0, rule: "dependencies", message: `\`${name}\` is not explained in ${page}.` }));
    });
}
