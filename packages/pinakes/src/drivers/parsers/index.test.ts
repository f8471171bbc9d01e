import { execFileSync } from "node:child_process";
import { deflateSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { fileTypes, type Parser } from "../../ports/parser.ts";
import { fileTypeOf } from "../../domain/file-type.ts";
import { openParser, type ParserOptions } from "./index.ts";
import { parserLimits } from "./limits.ts";
import { encode, makeDocx, makePdf, manyPagesPdf, pageOf, par, rawPdf } from "./test-files.ts";

const opened: Parser[] = [];
const open = (options: ParserOptions = {}): Parser => {
  const parser = openParser({ threads: 1, ...options });
  opened.push(parser);
  return parser;
};

afterEach(async () => {
  await Promise.all(opened.splice(0).map((parser) => parser.close()));
});

const txt = (text: string) => ({ bytes: encode(text), fileType: "txt" }) as const;
/** Nested quotes: the time of any Markdown parser is quadratic in them, far beyond any limit used here. */
/** Many lines that continue a paragraph deep inside of quotes and lists: valid, and slow in proportion to their number. */
const endless = { bytes: encode(`${"> ".repeat(11)}a\n${"  b\n".repeat(2_000_000)}`), fileType: "md" } as const;

describe("parsing in threads", () => {
  it("every type is parsed, many at a time", async () => {
    const parser = open({ threads: 2 });
    const files: Record<(typeof fileTypes)[number], Uint8Array> = {
      pdf: await makePdf([(doc) => doc.text("hello")]),
      docx: makeDocx(par("hello")),
      txt: encode("hello"),
      md: encode("# T\n\nhello"),
      csv: encode("a,b\n1,hello"),
      html: encode("<p>hello"),
      json: encode('"hello"'),
      xml: encode("<a>hello</a>"),
      yaml: encode("a: hello"),
      rtf: encode("{\\rtf1 hello}"),
      log: encode("10:00 hello"),
      ttl: encode('<urn:a> <urn:b> "hello" .'),
      nt: encode('<urn:a> <urn:b> "hello" .'),
      nq: encode('<urn:a> <urn:b> "hello" <urn:g> .'),
      trig: encode('<urn:g> { <urn:a> <urn:b> "hello" }'),
      jsonld: encode('{"@id": "urn:a", "urn:b": "hello"}'),
      rdf: encode('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">hello</rdf:RDF>'),
    };
    const parsed = await Promise.all(fileTypes.map((fileType) => parser.parse({ bytes: files[fileType], fileType })));
    for (const { text } of parsed) expect(text).toContain("hello");
  });

  it.each([
    ["UTF-16", Buffer.from("\ufeffGrüße, 世界", "utf16le"), "Grüße, 世界"],
    ["windows-1252", Buffer.from("Grüße, Zoë", "latin1"), "Grüße, Zoë"],
    ["text with NUL", Buffer.from("Grüße\0, all\0 of you"), "Grüße, all of you"],
  ])("%s is read", async (_, bytes, text) => {
    expect((await open().parse({ bytes, fileType: "txt" })).text).toBe(text);
  });

  it("the caller's bytes are unchanged", async () => {
    const bytes = encode("mine");
    await open().parse({ bytes, fileType: "txt" });
    expect(new TextDecoder().decode(bytes)).toBe("mine");
  });

  it("R-KB-20 a rejection has its reason", async () => {
    const parser = open();
    await expect(parser.parse({ bytes: manyPagesPdf(1), fileType: "txt" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("looks like a PDF"),
    });
    await expect(parser.parse({ bytes: new Uint8Array(), fileType: "csv" })).rejects.toMatchObject({
      code: "INVALID",
      message: "The file is empty.",
    });
    await expect(parser.parse(txt(" \n\t"))).rejects.toMatchObject({
      code: "INVALID",
      message: "The file contains no text.",
    });
  });

  it("a PDF of 10,000 pages is read within the limits", async () => {
    const parsed = await open().parse({ bytes: manyPagesPdf(10_000), fileType: "pdf" });
    expect(parsed.pages).toHaveLength(10_000);
    expect(pageOf(parsed, "This is page 9999.")).toBe(9_999);
    expect(parsed.warnings).toEqual([]);
  });

  it("as much text as the limit is read, and not one character more", async () => {
    const parser = open();
    const bytes = new Uint8Array(parserLimits.textCharsMax + 1).fill(0x61);
    expect((await parser.parse({ bytes: bytes.subarray(1), fileType: "txt" })).text).toHaveLength(
      parserLimits.textCharsMax,
    );
    await expect(parser.parse({ bytes, fileType: "txt" })).rejects.toThrow("more than 50,000,000 characters");
  });

  it("100,000 levels of anything are at worst rejected", async () => {
    const parser = open({ threads: 2 });
    const deep = { json: "[", html: "<div>", xml: "<a>", yaml: "[", md: "[", rtf: "{", txt: "[" } as const;
    for (const [fileType, level] of Object.entries(deep)) {
      const bytes = encode(`${fileType === "rtf" ? "{\\rtf1 " : ""}${level.repeat(100_000)}x`);
      const outcome = await parser.parse({ bytes, fileType: fileTypeOf(`x.${fileType}`) ?? "txt" }).then(
        ({ text }) => text.includes("x"),
        (error: { code: string }) => error.code,
      );
      expect([true, "INVALID"]).toContain(outcome);
    }
  });
});

describe("files that need too much", () => {
  it("a parse that takes too long is stopped, and the next file is read", async () => {
    const parser = open({ parseMsMax: 1_000 });
    await expect(parser.parse(endless)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("took longer than 1,000 ms"),
    });
    expect((await parser.parse(txt("after"))).text).toBe("after");
  });

  it("a limit of one millisecond stops a large PDF", async () => {
    await expect(open({ parseMsMax: 1 }).parse({ bytes: manyPagesPdf(2_000), fileType: "pdf" })).rejects.toMatchObject({
      code: "INVALID",
    });
  });

  it("a parse that fills the heap is stopped, and the next file is read", async () => {
    const parser = open({ memoryMbMax: 64 });
    const bytes = encode(`[${"[1],".repeat(3_000_000)}1]`);
    await expect(parser.parse({ bytes, fileType: "yaml" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("more than 64 MB"),
    });
    expect((await parser.parse(txt("after"))).text).toBe("after");
  });

  it("a parse that fills buffers outside the heap is stopped: a page that inflates to gigabytes", async () => {
    const inner = deflateSync(Buffer.alloc(400_000_000, " "));
    const bomb = inner.toString("latin1");
    const bytes = rawPdf([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents [4 0 R 4 0 R 4 0 R 4 0 R 4 0 R 4 0 R 4 0 R 4 0 R] >>",
      `<< /Length ${bomb.length} /Filter /FlateDecode >>\nstream\n${bomb}\nendstream`,
    ]);
    const parser = open({ memoryMbMax: 128 });
    await expect(parser.parse({ bytes, fileType: "pdf" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("more than 128 MB"),
    });
    expect((await parser.parse(txt("after"))).text).toBe("after");
  });
});

describe("stopping", () => {
  it("a signal aborts a running and a waiting parse, and the next file is read", async () => {
    const parser = open();
    const running = new AbortController();
    const waiting = new AbortController();
    const first = parser.parse(endless, { signal: running.signal });
    const second = parser.parse(txt("never"), { signal: waiting.signal });
    const third = parser.parse(txt("third"));
    waiting.abort(new Error("not needed"));
    await expect(second).rejects.toThrow("not needed");
    running.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
    expect((await third).text).toBe("third");
    await expect(parser.parse(txt("x"), { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  });

  it("closing rejects running, waiting and new parses", async () => {
    const parser = open();
    const outcomes = [endless, txt("a"), txt("b")].map((file) => parser.parse(file).catch((error: unknown) => error));
    await parser.close();
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ code: "UNAVAILABLE" });
    await expect(parser.parse(txt("c"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await parser.close();
  });

  it("as many files wait as the limit allows, and not one more", async () => {
    const parser = open();
    const waiting = [endless, ...Array.from({ length: parserLimits.queuedParsesMax }, () => txt("x"))].map((file) =>
      parser.parse(file).catch((error: unknown) => error),
    );
    await expect(parser.parse(txt("one more"))).rejects.toMatchObject({ code: "THROTTLED" });
    await parser.close();
    for (const outcome of await Promise.all(waiting)) expect(outcome).toMatchObject({ code: "UNAVAILABLE" });
  });

  it("an idle parser does not keep the process alive", () => {
    const script = `import { openParser } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
      const parser = openParser();
      const { text } = await parser.parse({ bytes: new TextEncoder().encode("bye"), fileType: "txt" });
      console.log(text);`;
    expect(
      execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        encoding: "utf8",
        timeout: 240_000,
      }).trim(),
    ).toBe("bye");
  });
});

describe("options", () => {
  it.each([{ threads: 0 }, { threads: 17 }, { threads: 1.5 }, { parseMsMax: 0 }, { memoryMbMax: 0 }])(
    "%j is refused",
    (options) => {
      expect(() => openParser(options)).toThrow(expect.objectContaining({ code: "INVALID" }));
    },
  );

  it("input of the wrong type is rejected", async () => {
    const parser = open();
    await expect(parser.parse({ bytes: "text" as unknown as Uint8Array, fileType: "txt" })).rejects.toMatchObject({
      code: "INVALID",
    });
    await expect(parser.parse({ bytes: encode("x"), fileType: "exe" as "txt" })).rejects.toMatchObject({
      code: "INVALID",
    });
  });
});
