/** docs/formats.md lists everything persisted: it agrees with the source, and nothing is missing. */
import { expect, it } from "vitest";
import { readTree } from "./tidy/tree.ts";
import { withoutComments } from "./tidy/code.ts";

const tree = await readTree(process.cwd());
const page = tree.get("docs/formats.md") ?? "";
const sources = [...tree].filter(
  ([path]) =>
    /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|\/testing(?:\/|\.ts)|\/test-|\.d\.ts$/.test(path),
);
const linked = (text: string) => [...text.matchAll(/\]\(\.\.\/(packages\/[^)]+)\)/g)].map(([, path]) => path as string);
const versioned = page
  .slice(page.indexOf("## With a version"), page.indexOf("## Documents in containers"))
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| what"))
  .map((line) => line.split(" | ").map((cell) => cell.replaceAll(/^\| | \|$/g, "")));

it("every version on the page is the one in the file it names", () => {
  expect(versioned.length).toBeGreaterThan(25);
  for (const [what, version, where, constant, readBy, rfc] of versioned) {
    const text = /^`(.*)`$/.exec(constant as string)?.[1] as string;
    expect(/\d+(?!.*\d)/.exec(text.replaceAll(/0x\w+|, 0/g, ""))?.[0], what).toMatch(new RegExp(`^0*${version}$`));
    const [path] = linked(where as string) as [string];
    expect(tree.get(path), what).toContain(text);
    expect(readBy, what).not.toBe("");
    expect(tree.has((/\((?:\.\.\/)(rfcs\/[^)]+)\)/.exec(rfc as string) as RegExpExecArray)[1] as string), what).toBe(
      true,
    );
  }
});

it("every file that fixes a version, or writes one, is on the page", () => {
  const fixes =
    /\b(?:const (?:format|formatVersion|layout|promptVersion)\b[^=\n]*= "?\d|const magic = Buffer\.from\((?:"PINAK|"PNK|\[0x50)|format: (?:\d|z\.literal\(\d)|[{,] v: \d\b|^\s+v: \d,|readonly (?:format|v): \d)/m;
  const found = sources.filter(([, text]) => fixes.test(withoutComments(text))).map(([path]) => path);
  expect(found.length).toBeGreaterThan(25);
  expect(found.filter((path) => !linked(page).includes(path))).toEqual([]);
});

it("every container of items is on the page", () => {
  const names = sources.flatMap(([, text]) => {
    const code = withoutComments(text);
    return [
      ...code.matchAll(/\bname: "([a-z-]+)",\s+partitionKey/g),
      ...code.matchAll(/\bworkContainer\("([a-z-]+)"/g),
      ...code.matchAll(/\bthread\("([a-z-]+)"\)/g),
      ...code.matchAll(/\bconst (?:containerName|memoriesContainer|stateWorkContainer) = "([a-z-]+)"/g),
    ].map(([, name]) => name as string);
  });
  expect(names.length).toBeGreaterThan(25);
  // A definition for queries over lists that are not stored.
  const stored = names.filter((name) => name !== "list");
  expect([...new Set(stored)].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it("everything that signs or seals a text for a client is on the page", () => {
  const found = sources
    .filter(([, text]) =>
      /\b(?:createHmac|createCipheriv|macOf|encryptToken|new (?:Signed|Sealed)Tokens)\(/.test(withoutComments(text)),
    )
    .map(([path]) => path);
  expect(found.length).toBeGreaterThan(4);
  expect(found.filter((path) => !linked(page).includes(path))).toEqual([]);
});
