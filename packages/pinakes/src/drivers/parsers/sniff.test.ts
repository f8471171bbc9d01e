import { gzipSync, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { fileTypes } from "../../ports/parser.ts";
import { fileTypeOf } from "../../domain/file-type.ts";
import { checkType, sniff } from "./sniff.ts";
import { encode, makeDocx, manyPagesPdf, par } from "./test-files.ts";

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13);
const ole = Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0);
const noise = Uint8Array.from({ length: 4_096 }, (_, i) => (i * 2_654_435_761) >>> 13);

describe("types by name", () => {
  it.each([
    ["Report.PDF", "pdf"],
    ["a.b.docx", "docx"],
    ["notes.markdown", "md"],
    ["x.yml", "yaml"],
    ["index.HTM", "html"],
    ["readme.text", "txt"],
    ["rows.tsv", "csv"],
    ["events.jsonl", "json"],
    ["server.log", "log"],
    ["folder/letter.rtf", "rtf"],
    ["feed.xml", "xml"],
  ])("%s is %s", (name, type) => expect(fileTypeOf(name)).toBe(type));

  it.each(["picture.png", "pdf", ".pdf", "x.", "x.constructor", "x.pdf.exe", ""])("%s is no document", (name) =>
    expect(fileTypeOf(name)).toBeUndefined(),
  );
});

describe("types by content", () => {
  it.each([
    ["pdf", manyPagesPdf(1)],
    ["docx", makeDocx(par("x"))],
    ["xlsx", zipSync({ "xl/workbook.xml": encode("<x/>") })],
    ["zip", zipSync({ "a.txt": encode("a") })],
    ["ole", ole],
    ["png", png],
    ["jpeg", Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16)],
    ["gif", encode("GIF89a........")],
    ["gzip", gzipSync(encode("hello"))],
    ["elf", Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0)],
    ["exe", Uint8Array.of(0x4d, 0x5a, 0x90, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0xff, 0xff)],
    ["rtf", encode("{\\rtf1 hello}")],
    ["html", encode("<!DOCTYPE html><p>x")],
    ["xml", encode('<?xml version="1.0"?><a/>')],
    ["json", encode('{"a": 1}')],
    ["text", encode("MZ is how this text begins. %PDF-1.7 is in it.")],
    ["text", encode("one\0two and a few more words")],
    ["text", Uint8Array.of(0x68, 0, 0x69, 0, 0x20, 0, 0x79, 0, 0x6f, 0, 0x75, 0)],
    ["binary", noise],
  ] as const)("%s", (looks, bytes) => expect(sniff(bytes)).toBe(looks));
});

describe("a name that contradicts the content", () => {
  it.each([
    ["pdf", png, "should be a PDF document by its name, but it looks like a PNG image"],
    ["pdf", encode("just text"), "looks like plain text"],
    ["txt", manyPagesPdf(1), "looks like a PDF document. Give it the extension .pdf"],
    ["txt", noise, "looks like binary data"],
    ["csv", makeDocx(par("x")), "looks like a Word document (docx). Give it the extension .docx"],
    ["md", encode("{\\rtf1 hello}"), "looks like an RTF document"],
    ["docx", ole, "Save it in Word as .docx, without a password"],
    ["docx", zipSync({ "xl/workbook.xml": encode("<x/>") }), "looks like an Excel workbook"],
    ["rtf", encode("hello"), "should be an RTF document"],
    ["html", gzipSync(encode("hello")), "looks like a gzip archive"],
  ] as const)("R-KB-20 %s: the content does not match, and the error says why", (fileType, bytes, detail) => {
    expect(() => checkType(bytes, fileType)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining(detail) }),
    );
  });

  it.each(fileTypes)("an empty %s is rejected", (fileType) =>
    expect(() => checkType(new Uint8Array(), fileType)).toThrow("The file is empty."),
  );

  it("a few bytes before a PDF's header are accepted", () => {
    const pdf = Buffer.concat([encode("\r\nX-Header: 1\r\n\r\n"), manyPagesPdf(1)]);
    expect(() => checkType(pdf, "pdf")).not.toThrow();
  });
});
