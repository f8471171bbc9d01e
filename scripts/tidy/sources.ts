/** Rules for single source files: names, lengths, forbidden words, and who may make scopes. */
import { basename } from "node:path";
import { codeOnly, isTest, lineOf } from "./code.ts";
import type { Finding, Tree } from "./tree.ts";

const linesMax = 500;
const linesThink = 300;

export function fileNames(tree: Tree): Finding[] {
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;
  return codeFiles(tree)
    .filter(
      ([path]) => !path.split("/").every((name) => name.split(".").every((part) => part === "" || kebab.test(part))),
    )
    .map(([path]) => ({
      path,
      line: 0,
      rule: "names",
      message: `"${basename(path)}" and its folders must be kebab-case.`,
    }));
}

export function lengths(tree: Tree): Finding[] {
  return codeFiles(tree).flatMap(([path, text]): Finding[] => {
    const lines = text.split("\n").length - 1;
    if (lines > linesMax)
      return [{ path, line: 0, rule: "length", message: `${lines} lines; split it (at most ${linesMax}).` }];
    if (lines > linesThink)
      return [{ path, line: 0, rule: "length", message: `${lines} lines; think about splitting it.`, note: true }];
    return [];
  });
}

/** Written with a class of one letter each, so that this file does not match itself. */
const unfinished = /\b(?:TO[D]O|FIX[M]E)\b|@ts-[i]gnore/g;
const focused = /\.onl[y]\(|\b(?:it|test|describe)\.(?:ski[p]|tod[o])\(/g;
const registries = /(?:registry\.)?npm[j]s\.(?:org|com)|deb\.[d]ebian/gi;

export function leftovers(tree: Tree): Finding[] {
  return codeFiles(tree).flatMap(([path, text]) => [
    ...matches(path, text, unfinished, "leftovers", (word) => `"${word}": finish it, or write an issue.`),
    ...matches(
      path,
      codeOnly(text),
      focused,
      "leftovers",
      (word) => `"${word}": run every test; a skip needs a reason (skipIf, or the suite's skip list).`,
    ),
  ]);
}

/** A test's time limit only ends what hangs; one below the default is a test that needs a fast machine. */
export function timeLimits(tree: Tree): Finding[] {
  const everybodys = Number(
    /testTimeout: ([\d_]+)/.exec(tree.get("vitest.config.ts") ?? "")?.[1]?.replaceAll("_", "") ?? 0,
  );
  const own =
    /^\s*\}?,? ?([\d_]{5,})\);$|^\s*\},\n\s*([\d_]{5,}),\n\s*\);$|\b(?:testTimeout|hookTimeout): ([\d_]+)|\b(?:it|test|describe)[^\n]*\{ timeout: ([\d_]+) \}/gm;
  return codeFiles(tree)
    .filter(([path]) => isTest(path))
    .map(([path, text]) => [path, codeOnly(text)] as const)
    .flatMap(([path, text]) =>
      [...text.matchAll(own)]
        .filter(([, ...found]) => Number(found.find((value) => value !== undefined)?.replaceAll("_", "")) < everybodys)
        .map((match) => ({
          path,
          line: lineOf(text, match.index + match[0].search(/\S/)),
          rule: "time limits",
          message: `a test has ${everybodys} ms before it counts as hanging (vitest.config.ts), on a busy machine too; remove its own limit.`,
        })),
    );
}

/** A scope is made where identity is decided, nowhere else. */
export function scopeMakers(tree: Tree): Finding[] {
  const source = "packages/pinakes/src/";
  const everywhere = (path: string) =>
    isTest(path) ||
    path === `${source}open.ts` ||
    path === `${source}domain/scope.ts` ||
    path.startsWith(`${source}testing/`);
  const tenants = (path: string) =>
    everywhere(path) ||
    path.startsWith("bench/") ||
    // An operator who can read the settings of the stores can read the stores; the tenant is named on the command line.
    path === `${source}cli/commands/vectors.ts` ||
    /^packages\/[^/]+\/examples\//.test(path) ||
    path === `${source}domain/caller.ts`;
  const callers = (path: string) => tenants(path) || path.startsWith(`${source}identity/`);
  return codeFiles(tree).flatMap(([path, text]) => [
    ...(everywhere(path)
      ? []
      : matches(path, codeOnly(text), /\bsystemScope\(/g, "scopes", () => "system scopes are made only in open.ts.")),
    ...(tenants(path)
      ? []
      : matches(
          path,
          codeOnly(text),
          /\btenantScope\(/g,
          "scopes",
          () => "tenant scopes are made only in open.ts; requests get theirs with their caller.",
        )),
    ...(callers(path)
      ? []
      : matches(
          path,
          codeOnly(text),
          /\bmakeCaller\(/g,
          "scopes",
          () => "callers are made only in open.ts and identity/.",
        )),
  ]);
}

/** In every text, comments and lockfiles included. */
export function hosts(tree: Tree): Finding[] {
  return [...tree].flatMap(([path, text]) =>
    matches(
      path,
      text,
      registries,
      "hosts",
      (word) => `names the host "${word}"; registries are the machine's own setting.`,
    ),
  );
}

function codeFiles(tree: Tree): [string, string][] {
  return [...tree].filter(([path]) => /\.(ts|mts|js|mjs)$/.test(path));
}

function matches(
  path: string,
  text: string,
  pattern: RegExp,
  rule: string,
  message: (word: string) => string,
): Finding[] {
  return [...text.matchAll(pattern)].map((match) => ({
    path,
    line: lineOf(text, match.index),
    rule,
    message: message(match[0]),
  }));
}
