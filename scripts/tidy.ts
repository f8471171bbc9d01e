/**
 * Enforces the rules of the repository: `npm run tidy`. Prints the errors and exits 1, or prints one line and exits 0. Rules that a linter
 * supports (unused code, long functions, floating promises) are in .oxlintrc.json instead.
 */
import { fileURLToPath } from "node:url";
import { requirementsPage } from "./requirements.ts";
import { direction } from "./tidy/direction.ts";
import { dependencies, links, taskPaths } from "./tidy/documents.ts";
import { fileNames, hosts, leftovers, lengths, scopeMakers, timeLimits } from "./tidy/sources.ts";
import { readTree, type Finding, type Rule, type Tree } from "./tidy/tree.ts";

const rules: readonly Rule[] = [
  direction,
  fileNames,
  lengths,
  leftovers,
  timeLimits,
  scopeMakers,
  hosts,
  dependencies,
  links,
  taskPaths,
  requirementsUpToDate,
];

function requirementsUpToDate(tree: Tree): Finding[] {
  const path = "docs/requirements.md";
  if (tree.get(path) === requirementsPage(tree)) return [];
  return [
    { path, line: 0, rule: "requirements", message: "is not what the tests say now; run `npm run requirements`." },
  ];
}

const tree = await readTree(fileURLToPath(new URL("..", import.meta.url)));
const findings = rules.flatMap((rule) => rule(tree));
for (const { path, line, rule, message, note } of findings)
  console.log(`${note ? "note" : "ERROR"}  ${path}${line > 0 ? `:${line}` : ""}  ${rule}: ${message}`);
const errors = findings.filter(({ note }) => note !== true).length;
console.log(
  errors === 0
    ? `tidy: ${tree.size} files, nothing to complain about.`
    : `tidy: ${errors} errors in ${tree.size} files.`,
);
process.exitCode = errors === 0 ? 0 : 1;
