/**
 * `npm run requirements`: writes docs/requirements.md, which says for every numbered check what it means and which tests prove it.
 * With `--check` it writes nothing and exits 1 when the page is out of date. A title that names an unknown number fails both.
 *
 * The checks come from docs/requirements/*.json; a test proves one by naming its number in its title, and a benchmark proves a figure by a
 * row with a bar that it reached, which the check names (`bench: ["knowledge: 10,000 collections"]`: the file, and how the row begins).
 * What no proof covers is written beside the check (`open`); then it counts as proved in part only.
 */
import { writeFileSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { readTree, type Tree } from "./tidy/tree.ts";

export const pagePath = "docs/requirements.md";

const groups = [
  {
    file: "agt",
    title: "Agent state",
    about: "containers, time to live, concurrency, queries, retention, backup and migration of what agents did",
  },
  {
    file: "cmp",
    title: "Vector compaction",
    about: "many writers, one safe compactor, readers that never see a mixture",
  },
  {
    file: "kb",
    title: "Catalogs",
    about: "a person's catalogs of documents, their indexing, and answers with citations",
  },
  {
    file: "lisa",
    title: "Repositories and collections",
    about: "repositories, collections, documents, access, limits and capacity",
  },
  { file: "tg", title: "Collection management and triples", about: "the delete cascade over every store, and RDF" },
] as const;

interface Check {
  readonly id: string;
  readonly text: string;
  readonly bench?: readonly string[];
  readonly open?: string;
}

interface BenchRow {
  readonly name: string;
  readonly unit: string;
  readonly bar: string;
  readonly ok: boolean;
}

interface Proof {
  readonly path: string;
  readonly title: string;
  /** The engines that run it, for a test of a shared suite; a suite that no engine runs proves nothing. */
  readonly engines?: readonly string[];
}

interface Outcome {
  readonly problems: readonly string[];
  readonly page: string;
}

export function requirementsPage(tree: Tree): string {
  return requirements(tree).page;
}

/** The expected page, and the errors of the checks or the titles. */
export function requirements(tree: Tree): Outcome {
  const checks = groups.map((group) => ({ ...group, checks: checksOf(tree, group.file) }));
  const known = new Set(checks.flatMap((group) => group.checks.map(({ id }) => id)));
  const proofs = new Map<string, Proof[]>();
  const problems: string[] = [];
  for (const proof of proofsIn(tree)) {
    for (const number of numbersIn(proof.title)) {
      if (!known.has(number))
        problems.push(`${proof.path}: the title "${proof.title}" names ${number}, which is not in docs/requirements/.`);
      else if (proof.engines?.length !== 0) proofs.set(number, [...(proofs.get(number) ?? []), proof]);
    }
  }
  for (const { id, bench = [] } of checks.flatMap((group) => group.checks)) {
    for (const row of bench) {
      const [path, found] = benchRows(tree, row);
      if (found.length === 0)
        problems.push(`${id} names the benchmark "${row}", but ${path} has no row with a bar that begins so.`);
      const reached = found
        .filter(({ ok }) => ok)
        .map(({ name, bar, unit }) => ({ path, title: `bench: ${name} ${bar} ${unit}`.trimEnd() }));
      if (reached.length > 0) proofs.set(id, [...(proofs.get(id) ?? []), ...reached]);
    }
  }
  return { problems, page: page(tree, checks, proofs) };
}

function checksOf(tree: Tree, file: string): readonly Check[] {
  const path = `docs/requirements/${file}.json`;
  const text = tree.get(path);
  if (text === undefined) throw new Error(`${path} is missing; run this from the root of the repository.`);
  const checks = JSON.parse(text) as readonly Check[];
  const form = new RegExp(`^R-${file.toUpperCase()}-\\d{2,3}$`);
  const wrong = checks.find(
    ({ id, text: meaning }, i) =>
      !form.test(id) || meaning.trim() === "" || checks.findIndex((other) => other.id === id) !== i,
  );
  if (wrong !== undefined)
    throw new Error(`${path}: ${JSON.stringify(wrong)} has a wrong number, no text, or a number that comes twice.`);
  return checks;
}

/** The rows of bench/results/<file>.json with this prefix that have a bar. */
function benchRows(tree: Tree, told: string): readonly [path: string, rows: readonly BenchRow[]] {
  const [file, ...rest] = told.split(": ");
  const path = `bench/results/${file}.json`;
  const { rows } = JSON.parse(tree.get(path) ?? `{ "rows": [] }`) as { rows: readonly BenchRow[] };
  return [path, rows.filter(({ name, bar }) => bar !== "" && name.startsWith(rest.join(": ")))];
}

function proofsIn(tree: Tree): Proof[] {
  return [...tree]
    .filter(([path]) => path.endsWith(".test.ts") || suiteOf(path) !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, text]) =>
      titlesIn(text).map((title) => ({ path, title, ...enginesOf(tree, suiteOf(path), title) })),
    );
}

/**
 * "item-store" for a file of packages/pinakes/src/testing/item-store/. Suites that are not published are with their tests: that of the
 * vector store, and "participant" for test/lifecycle/support/participant-suite.ts.
 */
function suiteOf(path: string): string | undefined {
  if (path.endsWith(".test.ts")) return undefined;
  if (/^packages\/[^/]+\/test\/vectors\/suite-/.test(path)) return "vector-store";
  return (/^packages\/[^/]+\/src\/testing\/([^/]+)\//.exec(path) ??
    /^packages\/[^/]+\/test\/(?:[^/]+\/)*support\/([^/]+)-suite\.ts$/.exec(path))?.[1];
}

function enginesOf(tree: Tree, suite: string | undefined, title: string): { engines?: readonly string[] } {
  if (suite === undefined) return {};
  // An engine that skips a test (by a part of its title, as the suites do) does not prove it.
  const skips = (path: string) =>
    [...(tree.get(path) ?? "").matchAll(/\btest: "([^"\n]+)"/g)].some((match) => title.includes(match[1] as string));
  return {
    engines: runnersOf(tree, suite)
      .filter((path) => !skips(path))
      .map(engineName),
  };
}

/** The test files that run a suite: those that call `itemStoreSuite(…)` for "item-store". */
function runnersOf(tree: Tree, suite: string): string[] {
  const call = new RegExp(`\\b${suite.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Suite\\(`);
  return [...tree]
    .flatMap(([path, text]) => (path.endsWith(".test.ts") && call.test(codeOf(text)) ? [path] : []))
    .sort();
}

function engineName(path: string): string {
  return basename(path, ".test.ts");
}

// Comments, strings and regular expressions. A quote that is not closed on its line is ignored.
const literals =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[(,=:[!&|?{};]\s*)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//g;
// What stands before a title: it(, test(, fixture.test(, it.skipIf(…)(, it.each(…)(. A test that is always skipped proves nothing.
const beforeTitle = /(?:^|[^\w$])(?:it|test)(?:\.(?!skip\b|todo\b)\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*$/;
/** How far back the call of a title is searched. */
const callCharsMax = 2_000;

/** The titles of the tests in a source text. Text inside a string or a comment that only looks like a test is ignored. */
export function titlesIn(source: string): string[] {
  const titles: string[] = [];
  let code = "";
  let end = 0;
  for (const match of source.matchAll(literals)) {
    const [literal] = match;
    code = (code + source.slice(end, match.index)).slice(-callCharsMax);
    end = match.index + literal.length;
    // After a title comes the test itself; pattern.test("…") has nothing more.
    if (/^["'`]/.test(literal) && beforeTitle.test(code) && /^\s*,/.test(source.slice(end, end + 100)))
      titles.push(unquoted(literal));
    code += " ";
  }
  return titles;
}

function codeOf(source: string): string {
  return source.replaceAll(literals, " ");
}

function unquoted(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/\$\{[^}]*\}/g, "…")
    .replaceAll(/\\(["'`\\])/g, "$1");
}

/** Every number a title names: single ones, ranges (R-AGT-84…88, R-AGT-84–R-AGT-88) and lists (R-TG-30/31/32). */
export function numbersIn(title: string): string[] {
  const numbers = [...title.matchAll(/\bR-([A-Z]+)-(\d+)(?:(?:…|\.{2,3}|–)(?:R-\1-)?(\d+)|((?:\/\d+)+))?/g)].flatMap(
    ([, group, first, last, more]) => {
      const name = (value: number | string) => `R-${group}-${String(value).padStart(first?.length ?? 2, "0")}`;
      if (last === undefined) return [first as string, ...(more ?? "").split("/").slice(1)].map(name);
      const length = Number(last) - Number(first) + 1;
      // A reversed or unbounded range stands for itself: it is reported as unknown rather than ignored.
      return length < 1 || length > 999
        ? [`${name(first as string)}…${last}`]
        : Array.from({ length }, (_, i) => name(Number(first) + i));
    },
  );
  return [...new Set(numbers)];
}

function page(
  tree: Tree,
  groupsWithChecks: readonly ((typeof groups)[number] & { readonly checks: readonly Check[] })[],
  proofs: ReadonlyMap<string, readonly Proof[]>,
): string {
  const proved = (checks: readonly Check[]) =>
    checks.filter(({ id, open }) => proofs.has(id) && open === undefined).length;
  const partly = (checks: readonly Check[]) =>
    checks.filter(({ id, open }) => proofs.has(id) && open !== undefined).length;
  const all = groupsWithChecks.flatMap(({ checks }) => checks);
  const suites = [...new Set([...tree.keys()].flatMap((path) => suiteOf(path) ?? []))].sort();
  return [
    "# Requirements",
    "",
    "<!-- Made by `npm run requirements`. Do not edit: change docs/requirements/*.json, or the titles of tests. -->",
    "",
    "What Pinakes must do, as numbered checks in our own words, and the tests that prove each. A test proves a check by naming its number in its title;",
    "a figure is proved by a benchmark that reached its bar. What no proof covers is said under **open**, and the check then counts as proved in part only.",
    '"Not yet" means that nothing proves any of it.',
    "",
    "The numbers come from the specifications that Pinakes is built to, one a group. They are not in this repository, and nothing here needs them: each check says all that it asks for. A gap in the numbers (R-LISA-59, R-TG-112…119) was never used.",
    "",
    "| group | about | proved | in part | total |",
    "|---|---|--:|--:|--:|",
    ...groupsWithChecks.map(
      ({ file, title, about, checks }) =>
        `| [R-${file.toUpperCase()}](#${anchor(title)}) | ${about} | ${proved(checks)} | ${partly(checks)} | ${checks.length} |`,
    ),
    `| all | | ${proved(all)} | ${partly(all)} | ${all.length} |`,
    "",
    "A test of a shared suite runs on every engine that runs the suite, on the real engine:",
    "",
    ...suites.map(
      (suite) =>
        `- ${suite}: ${
          runnersOf(tree, suite)
            .map((path) => link(engineName(path), path))
            .join(", ") || "nobody yet"
        }`,
    ),
    ...groupsWithChecks.flatMap(({ title, about, checks }) => [
      "",
      `## ${title}`,
      "",
      `${capital(about)}. ${proved(checks)} of ${checks.length} proved, ${partly(checks)} in part.`,
      "",
      "| number | what it means | proved by |",
      "|---|---|---|",
      ...checks.map(({ id, text, open }) => {
        const found = (proofs.get(id) ?? []).map(proofCell);
        const missing = open === undefined ? [] : [`**open:** ${cell(open)}`];
        return `| ${id} | ${cell(text)} | ${[...(found.length === 0 ? ["not yet"] : found), ...missing].join("<br>")} |`;
      }),
    ]),
    "",
  ].join("\n");
}

function proofCell({ path, title, engines }: Proof): string {
  return link(title, path) + (engines === undefined ? "" : ` (on ${engines.join(", ")})`);
}

function link(text: string, path: string): string {
  return `[${cell(text).replaceAll(/[[\]*_<`]/g, "\\$&")}](${posix.relative(posix.dirname(pagePath), path)})`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(" ", "-");
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((argument) => argument !== "--check");
  if (unknown !== undefined) {
    console.error(`requirements: unknown argument "${unknown}"; there is only --check.`);
    return 1;
  }
  const root = process.cwd();
  const tree = await readTree(root);
  const outcome = requirements(tree);
  for (const problem of outcome.problems) console.error(`requirements: ${problem}`);
  if (outcome.problems.length > 0) return 1;
  if (tree.get(pagePath) === outcome.page) {
    console.log(`requirements: ${pagePath} is up to date.`);
    return 0;
  }
  if (args.includes("--check")) {
    console.error(`requirements: ${pagePath} is out of date; run \`npm run requirements\`.`);
    return 1;
  }
  writeFileSync(join(root, pagePath), outcome.page);
  console.log(`requirements: wrote ${pagePath}.`);
  return 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
