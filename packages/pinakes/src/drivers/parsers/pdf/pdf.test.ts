import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { parsePdf } from "./pdf.ts";
import { makePdf, manyPagesPdf, pageOf, rawPdf } from "../test-files.ts";

const long =
  "The quick brown fox jumps over the lazy dog and keeps on running through the forest until it comes to a river that is far too wide to cross, so it sits down and waits for the night.";

describe("PDF", () => {
  it("returns the text with its pages, and reports those without text", async () => {
    const pdf = await makePdf([
      (doc) => doc.fontSize(12).text("First page, alpha."),
      () => undefined,
      (doc) => doc.text("Third page, gamma."),
    ]);
    const parsed = await parsePdf(pdf);
    expect(parsed.text).toBe("First page, alpha.\n\nThird page, gamma.");
    expect(pageOf(parsed, "alpha")).toBe(1);
    expect(pageOf(parsed, "gamma")).toBe(3);
    expect(parsed.pages).toEqual([
      { start: 0, page: 1 },
      { start: 20, page: 3 },
    ]);
    expect(parsed.warnings).toEqual(["1 of 3 pages have no text (scanned images?)."]);
  });

  it("joins the lines of a paragraph and keeps paragraphs, short lines and lists apart", async () => {
    const pdf = await makePdf([
      (doc) => {
        doc.fontSize(20).text("A Heading").moveDown(0.5).fontSize(12);
        doc.text(long).moveDown().text(long).moveDown();
        doc.text("Name: Ann").text("Town: Oslo").text("- first item").text("- second item");
      },
    ]);
    expect((await parsePdf(pdf)).text).toBe(
      `A Heading\n\n${long}\n\n${long}\n\nName: Ann\nTown: Oslo\n- first item\n- second item`,
    );
  });

  it("joins a word that was divided at the end of a line", async () => {
    const parsed = await parsePdf(
      await makePdf([(doc) => doc.text("It is extra-\nordinary that Anglo-\nSaxon stays.")]),
    );
    expect(parsed.text).toContain("It is extraordinary");
    expect(parsed.text).toMatch(/Anglo-\s?Saxon/);
  });

  it("a password is reported", async () => {
    const locked = await makePdf([(doc) => doc.text("secret")], { userPassword: "open sesame", ownerPassword: "x" });
    await expect(parsePdf(locked)).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("protected by a password"),
    });
  });

  it("a file that is only protected against changes is read", async () => {
    const parsed = await parsePdf(await makePdf([(doc) => doc.text("readable")], { ownerPassword: "x" }));
    expect(parsed.text).toBe("readable");
  });

  it("a truncated file is rejected", async () => {
    const whole = await makePdf([(doc) => doc.text(long)]);
    await expect(parsePdf(whole.slice(0, 200))).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("damaged"),
    });
  });

  it("pages without any text need OCR", async () => {
    const scan = await makePdf([
      (doc) => doc.rect(100, 100, 200, 200).fill("black"),
      (doc) => doc.circle(200, 200, 50).stroke(),
    ]);
    await expect(parsePdf(scan)).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("OCR") });
  });

  it("compressed streams and letters beyond ASCII are read", async () => {
    const parsed = await parsePdf(await makePdf([(doc) => doc.text("Größe: 5 €, façade")], { compress: true }));
    expect(parsed.text).toBe("Größe: 5 €, façade");
  });

  it("a CJK font without its own table is read with the library's tables", async () => {
    const stream = "BT /F1 12 Tf 72 720 Td <93FA967B8CEA> Tj ET";
    const parsed = await parsePdf(
      rawPdf([
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>",
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
        "<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /90ms-RKSJ-H /DescendantFonts [6 0 R] >>",
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor 7 0 R >>",
        "<< /Type /FontDescriptor /FontName /Ryumin-Light /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
      ]),
    );
    expect(parsed.text).toBe("日本語");
  });

  it("one damaged page does not affect the others", async () => {
    const deflated = deflateSync(Buffer.from("BT /F1 12 Tf 72 720 Td (Fine page.) Tj ET")).toString("latin1");
    const page = (content: number) =>
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 6 0 R >> >> /Contents ${content} 0 R >>`;
    const parsed = await parsePdf(
      rawPdf([
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>",
        "<< /Type /NoPage >>",
        page(5),
        `<< /Length ${deflated.length} /Filter /FlateDecode >>\nstream\n${deflated}\nendstream`,
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
      ]),
    );
    expect(parsed.text).toBe("Fine page.");
    expect(pageOf(parsed, "Fine")).toBe(2);
    expect(parsed.warnings).toHaveLength(1);
  });

  it("as many pages and characters as the limits, and not one more", async () => {
    const limits = { pdfPagesMax: 3, textCharsMax: 1_000 };
    expect((await parsePdf(manyPagesPdf(3), limits)).pages).toHaveLength(3);
    await expect(parsePdf(manyPagesPdf(4), limits)).rejects.toMatchObject({
      code: "INVALID",
      message: "The PDF has 4 pages, and at most 3 are read; split it.",
    });
    const chars = "This is page 1.".length;
    expect((await parsePdf(manyPagesPdf(1), { ...limits, textCharsMax: chars })).text).toHaveLength(chars);
    await expect(parsePdf(manyPagesPdf(1), { ...limits, textCharsMax: chars - 1 })).rejects.toThrow(
      "more than 14 characters",
    );
  });
});
