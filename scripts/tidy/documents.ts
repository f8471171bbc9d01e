/** Rules for documents: links lead somewhere, and every dependency has its reason. */
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
