/** Small files made to be slow: each is read, or rejected with a reason, long before its deadline. */
import { afterAll, describe, expect, it } from "vitest";
import type { FileType } from "../../ports/parser.ts";
import { FairSlots } from "./fair-slots.ts";
import { openParser } from "./index.ts";
import { parserLimits } from "./limits.ts";
import { flattenDeepBlocks } from "./markdown/markdown.ts";
import { markdownSegments } from "./markdown/markdown.ts";
import { encode, makeDocx, par, rawPdf } from "./test-files.ts";
import { parseMs } from "./worker.ts";

const n = 20_000;
const times = (text: string, count = n) => text.repeat(count);
const steps = (make: (i: number) => string, count = 2_000) =>
  Array.from({ length: count }, (_, i) => make(i)).join("\n");

const hostile: readonly (readonly [FileType, string, string])[] = [
  ["md", "nested items", `${times("- ")}a`],
  ["md", "nested numbers", `${times("1. ")}a`],
  ["md", "nested quotes", `${times("> ")}a`],
  ["md", "quotes without spaces", `${times(">")}a`],
  ["md", "quotes and items", `${times("> - ")}a`],
  ["md", "items deeper line by line", steps((i) => `${" ".repeat(i * 2)}- a`)],
  ["md", "deep quotes that go on", `${times("> ", 200)}a\n${times("b\n", 10_000)}`],
  ["md", "links that are not closed", times("[a](")],
  ["md", "a heading of links", `# ${times("[a](")}`],
  ["md", "a heading of brackets", `# ${times("[")}`],
  ["md", "a heading of stars", `# ${times("*a **b ")}`],
  ["md", "definitions", times("[a]: <")],
  ["md", "items", times("- a\n")],
  ["md", "fences in items", times("- ```\n")],
  ["md", "comments", times("<!-- ")],
  ["md", "front matter", `---\n${times("- ")}`],
  ["html", "elements", `${times("<div>")}x`],
  ["html", "tables", `${times("<table><tr><td>")}x`],
  ["html", "lists", `${times("<ul><li>")}x`],
  ["html", "what is not open", `${times("<a>")}x${times("</b>")}`],
  ["html", "comments", `x${times("<!--")}`],
  ["html", "attributes", `<a ${times("x=1 ")}>x`],
  ["json", "lists", times("[")],
  ["json", "objects", `${times('{"a":')}1${times("}")}`],
  ["xml", "elements", `${times("<a>")}x${times("</a>")}`],
  ["xml", "namespaces", `${times('<a xmlns:b="x">')}x${times("</a>")}`],
  ["yaml", "lists", times("[")],
  ["yaml", "items", `${times("- ")}a`],
  ["yaml", "maps", `${times("{a: ")}1${times("}")}`],
  ["yaml", "keys", times("? ")],
  ["yaml", "deeper line by line", steps((i) => `${" ".repeat(i)}a:`)],
  ["rtf", "groups", `{\\rtf1 ${times("{\\b ")}x`],
  ["rtf", "destinations", `{\\rtf1 x${times("{\\*\\x ")}`],
  ["csv", "quotes", times('"')],
  ["csv", "quotes that are not closed", times('"a,')],
  ["csv", "wide and long", `${times("a,")}\n${times("b\n")}`],
  ["txt", "openers", times("[(<{")],
  ["log", "openers", times("[(<{")],
  ["ttl", "openers", times("[")],
  ["nt", "openers", times("<")],
  ["nq", "openers", times("<")],
  ["trig", "openers", times("{")],
  ["jsonld", "openers", times('{"a":[')],
  ["rdf", "openers", times("<a>")],
];

const parser = openParser({ threads: 2 });
afterAll(() => parser.close());

/** How it ended: true, or the reason, which is never the deadline. */
async function outcome(bytes: Uint8Array, fileType: FileType): Promise<string> {
  const parsed = await parser
    .parse({ bytes, fileType })
    .catch((error: unknown) => error as { code: string; message: string });
  return "text" in parsed ? "read" : `${parsed.code}: ${parsed.message}`;
}

describe("repeated openers", () => {
  it.each(hostile)("%s: %s", async (fileType, _name, text) => {
    const ended = await outcome(encode(text), fileType);
    expect(ended).toMatch(/^(?:read$|INVALID: )/);
    expect(ended).not.toContain("took longer");
  });

  it("docx: tables in tables; pdf: pages below pages, lists in lists", async () => {
    const tables = `${times("<w:tbl><w:tr><w:tc>", 2_000)}${par("x")}${times("</w:tc></w:tr></w:tbl>", 2_000)}`;
    const kids = Array.from({ length: 2_000 }, (_, i) => `<< /Type /Pages /Count 1 /Kids [${i + 3} 0 R] >>`);
    const pages = rawPdf(["<< /Type /Catalog /Pages 2 0 R >>", ...kids, "<< /Type /Page /MediaBox [0 0 9 9] >>"]);
    const content = times("[", 20_000);
    const lists = rawPdf([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]);
    for (const [fileType, bytes] of [
      ["docx", makeDocx(tables)],
      ["pdf", pages],
      ["pdf", lists],
    ] as const) {
      const ended = await outcome(bytes, fileType);
      expect(ended).toMatch(/^(?:read$|INVALID: )/);
      expect(ended).not.toContain("took longer");
    }
  });
});

describe("Markdown, before its parser sees it", () => {
  const depthOf = (line: string) =>
    [...(/^(?:[ \t]*(?:>|[-+*](?=\s)|\d+[.)](?=\s)))*/.exec(line)?.[0] ?? "").matchAll(/[>*+-]|\d+[.)]/g)].length;

  it("twelve levels stay, the thirteenth and all deeper ones become words, and no position changes", () => {
    const [least, deeper] = [`${"- ".repeat(12)}a`, `${"- ".repeat(5_000)}a`];
    expect(flattenDeepBlocks(least)).toBe(least);
    const flat = flattenDeepBlocks(deeper);
    expect(flat).toHaveLength(deeper.length);
    expect(depthOf(flat)).toBe(12);
    expect(flattenDeepBlocks(`${" ".repeat(60)}- a\n# b`)).toBe(`${" ".repeat(60)}x a\n# b`);
  });

  it("is split into pieces of a bounded size where lines are not indented, and every heading outside of lists is still found", async () => {
    const text = `${times("- a\n", 5_000)}\n# One\n\n${times("> b\n", 5_000)}\n## Two\n\nend\n`;
    const pieces = [...markdownSegments(text, 0)];
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    expect(Math.max(...pieces.map((piece) => piece.text.length))).toBeLessThan(5_000);
    const { sections } = await parser.parse({ bytes: encode(text), fileType: "md" });
    expect(sections.map(({ path }) => path.at(-1))).toEqual(["One", "Two"]);
  });
});

it("a file's time depends on its size", () => {
  const limits = { parseMsMax: parserLimits.parseMsDefault };
  expect(parseMs(0, limits)).toBe(parserLimits.parseMsLeast);
  expect(parseMs(1024 ** 2, limits)).toBe(parserLimits.parseMsLeast + parserLimits.parseMsPerMb);
  expect(parseMs(1024 ** 3, limits)).toBe(parserLimits.parseMsDefault);
  expect(parseMs(1024 ** 3, { parseMsMax: 1_000 })).toBe(1_000);
});

describe("slots between workspaces", () => {
  it("rotate: one file of B is served after at most one more of A, however many A has", async () => {
    const places = new FairSlots(1, 100);
    const served: string[] = [];
    const want = (share: string, name: string) => places.take(share).then(() => void served.push(name));
    await places.take("a");
    const all = [
      ...Array.from({ length: 20 }, (_, i) => want("a", `a${i}`)),
      want("b", "b0"),
      want("b", "b1"),
      want("c", "c0"),
    ];
    for (let i = 0, holder = "a"; i < all.length; i += 1) {
      places.give(holder);
      await Promise.resolve().then(() => Promise.resolve());
      while (served.length <= i) await Promise.resolve();
      holder = (served[i] as string)[0] as string;
    }
    await Promise.all(all);
    expect(served.slice(0, 6)).toEqual(["a0", "b0", "c0", "a1", "b1", "a2"]);
  });

  it("are never all held by one: with slow files of A running, B's file does not wait for any of them", async () => {
    const places = new FairSlots(3, 100);
    await places.take("a");
    await places.take("a");
    let third = false;
    const waits = places.take("a").then(() => (third = true));
    await places.take("b");
    expect(third).toBe(false);
    places.give("a");
    await waits;
  });

  it("an aborted wait leaves the queue", async () => {
    const places = new FairSlots(1, 1);
    await places.take("a");
    const abort = new AbortController();
    const gone = places.take("b", abort.signal);
    await expect(places.take("c")).rejects.toMatchObject({ code: "THROTTLED" });
    abort.abort(new Error("enough"));
    await expect(gone).rejects.toThrow("enough");
    const next = places.take("c");
    places.give("a");
    await next;
  });
});
