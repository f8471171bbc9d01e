/** The text of a document: in every format, chunks and citations refer to it, in windows of any size. */
import { beforeAll, describe, expect, it } from "vitest";
import { makeDocx, makePdf, par } from "../../src/drivers/parsers/test-files.ts";
import { textWindow, textWindowCharsMax } from "../../src/knowledge/documents/document-text.ts";
import { failure } from "../../src/testing/item-store/fixture.ts";
import { newPlace, openTestPinakes, upload, uploaded, walk } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const test = forAllTests(() => openTestPinakes("memory"));
const place = forAllTests(() => newPlace(test));
beforeAll(async () => {
  const chunking_strategy = { type: "RECURSIVE", unit: "char", chunk_size: 100, chunk_overlap: 20 };
  await test.knowledge.collections.update(place.caller, place.repository, place.collection, { chunking_strategy });
});

const words = (about: string): string =>
  Array.from({ length: 12 }, (_, i) => `Sentence ${i} says that the 🜁 of ${about} is naïve.`).join(" ");
const at = (): [typeof place.caller, string, string] => [place.caller, place.repository, place.collection];
const passagesOf = (id: string) =>
  walk((cursor) => test.knowledge.documents.passages(...at(), id, { limit: 7, cursor }));

const files: readonly (readonly [name: string, content: () => string | Uint8Array | Promise<Uint8Array>])[] = [
  ["plain.txt", () => `${words("plain text")}\r\n\r\nAnother line.\r\n`],
  ["old.log", () => `2026-01-01 start\n${words("a log")}`],
  ["notes.md", () => `# One\n\n${words("the first part")}\n\n## Two\n\n${words("the second part")}\n`],
  [
    "page.html",
    () =>
      `<html><body><h1>Title</h1><p>${words("a page")}</p><ul><li>one</li><li>two &amp; three</li></ul></body></html>`,
  ],
  ["paper.pdf", () => makePdf(["page one", "page two"].map((about) => (doc) => void doc.text(words(about))))],
  ["letter.docx", () => makeDocx([par("Heading", "Heading1"), par(words("a letter")), par(words("its end"))].join(""))],
  ["table.csv", () => `name,city\n${Array.from({ length: 30 }, (_, i) => `Ada ${i},"Lon,don ${i}"`).join("\n")}\n`],
  ["data.json", () => JSON.stringify(Array.from({ length: 20 }, (_, i) => ({ name: `Ada ${i}`, note: `wörds ${i}` })))],
  ["data.yaml", () => Array.from({ length: 20 }, (_, i) => `key${i}: wörds of ${i}`).join("\n")],
  ["data.xml", () => `<r>${Array.from({ length: 20 }, (_, i) => `<item n="${i}">wörds of ${i}</item>`).join("")}</r>`],
  ["letter.rtf", () => String.raw`{\rtf1\ansi One line of a letter.\par Another line of it.}`],
  ["facts.ttl", () => Array.from({ length: 10 }, (_, i) => `<urn:a:${i}> <urn:p:knows> "Ada ${i}" .`).join("\n")],
];

describe("the text of a document", () => {
  it.each(files)("R-KB-45 of %s: every chunk, and what a search cites, is the stated slice", async (name, content) => {
    const document = await uploaded(place, name, await content());
    expect(document.status, document.error ?? "").toBe("indexed");
    const whole = await test.knowledge.documents.text(...at(), document.document_id);
    expect(whole).toMatchObject({
      document_id: document.document_id,
      version: 1,
      start: 0,
      end: whole.text.length,
      length: whole.text.length,
      next_start: null,
    });
    const passages = await passagesOf(document.document_id);
    expect(passages).toHaveLength(document.chunk_count);
    expect(passages.length).toBeGreaterThan(0);
    for (const { start, end, text, page, section } of passages) {
      expect(whole.text.slice(start, end)).toBe(text);
      const own = await test.knowledge.documents.text(...at(), document.document_id, { start, end });
      expect([own.text, own.start, own.end, own.length]).toEqual([text, start, end, whole.length]);
      expect(own.pages.some((one) => one.page === page)).toBe(page !== undefined);
      if (section !== undefined) expect(own.sections.map(({ path }) => path.join(" "))).not.toEqual([]);
    }
    const { hits } = await test.knowledge.search.run(place.caller, {
      query: passages[0]?.text ?? "",
      mode: "keyword",
      collections: [{ repository: place.repository, collection: place.collection }],
      limit: 20,
    });
    const own = hits.filter(({ document_id }) => document_id === document.document_id);
    expect(own.length).toBeGreaterThan(0);
    for (const { citation, text } of own) {
      expect(whole.text.slice(citation.start, citation.end)).toBe(text);
      expect(text).toContain(citation.quote);
    }
  });

  it("has its pages in order, and its headings with those above them", async () => {
    const paper = await uploaded(
      place,
      "paged.pdf",
      await makePdf([1, 2, 3].map((n) => (doc) => void doc.text(`This is page ${n}.`))),
    );
    const { text, pages } = await test.knowledge.documents.text(...at(), paper.document_id);
    expect(pages.map(({ page, start, end }) => [page, text.slice(start, end).trim()])).toEqual(
      [1, 2, 3].map((n) => [n, `This is page ${n}.`]),
    );
    const notes = await uploaded(place, "headed.md", "intro\n\n# One\n\nfirst\n\n## Two\n\nsecond\n");
    const headed = await test.knowledge.documents.text(...at(), notes.document_id);
    expect(headed.sections.map(({ path }) => path)).toEqual([["One"], ["One", "Two"]]);
    expect(headed.sections.map(({ start, end }) => headed.text.slice(start, end).includes("second"))).toEqual([
      false,
      true,
    ]);
    expect(headed.pages).toEqual([]);
    const [, two] = headed.sections;
    const last = await test.knowledge.documents.text(...at(), notes.document_id, { start: two?.start });
    expect(last.sections.map(({ path }) => path)).toEqual([["One", "Two"]]);
  });

  it("of a stored version is available; of a missing or unindexed one it is not", async () => {
    const first = await uploaded(place, "versions.txt", "the first words");
    await uploaded(place, "versions.txt", "the second words", { replace: true });
    const text = async (version?: number) =>
      (await test.knowledge.documents.text(...at(), first.document_id, { version })).text;
    expect([await text(), await text(1), await text(2)]).toEqual([
      "the second words",
      "the first words",
      "the second words",
    ]);
    await failure(text(3), "NOT_FOUND");
    await using still = await openTestPinakes("memory", { background: false });
    const other = await newPlace(still);
    const { document_id } = await upload(other, "waiting.txt", "words");
    const early = await failure(
      still.knowledge.documents.text(other.caller, other.repository, other.collection, document_id),
      "NOT_FOUND",
    );
    expect(early.detail).toContain("pending");
  });

  it("in consecutive windows is the whole text; a window at the limit is accepted, and one past it refused", async () => {
    const line = "a line of a long text with a 🜁 in it\n";
    const { document_id } = await uploaded(place, "long.log", line.repeat(12_000));
    let start: number | null = 0;
    let text = "";
    let windows = 0;
    while (start !== null) {
      const window = await test.knowledge.documents.text(...at(), document_id, { start });
      expect(window.start).toBe(start);
      expect(window.text.isWellFormed()).toBe(true);
      text += window.text;
      start = window.next_start;
      windows += 1;
    }
    expect([text === line.repeat(12_000), windows]).toEqual([true, 3]);
    expect(
      await test.knowledge.documents.text(...at(), document_id, { start: 5, end: textWindowCharsMax + 5 }),
    ).toMatchObject({ start: 5, end: text.length });
    await failure(
      test.knowledge.documents.text(...at(), document_id, { start: 5, end: textWindowCharsMax + 6 }),
      "INVALID",
    );
    for (const query of [{ start: -1 }, { start: 1.5 }, { start: 2, end: 1 }, { version: 0 }])
      await failure(test.knowledge.documents.text(...at(), document_id, query), "INVALID");
    const beyond = await test.knowledge.documents.text(...at(), document_id, { start: text.length + 9 });
    expect(beyond).toMatchObject({ start: text.length, end: text.length, text: "", next_start: null });
  });

  it("does not split surrogate pairs by default", () => {
    const text = `${"x".repeat(199_999)}🜁 and more`;
    const parsed = { text, pages: [], sections: [], rows: [], warnings: ["w"] };
    expect(textWindow("d", 1, parsed, {})).toMatchObject({ end: 199_999, next_start: 199_999, warnings: ["w"] });
    expect(textWindow("d", 1, parsed, { start: 199_999 })).toMatchObject({ text: "🜁 and more", next_start: null });
    expect(textWindow("d", 1, parsed, { start: 0, end: 200_000 }).end).toBe(200_000);
  });
});
