/** PDF: the text page by page. Scanned pages contain images and no text; they are counted and reported. */
import type { PDFDocumentLoadingTask, PDFDocumentProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { invalid } from "../../../domain/errors.ts";
import type { ParsedText } from "../../../ports/parser.ts";
import { parserLimits } from "../limits.ts";
import { layOut, type Piece } from "./pdf-layout.ts";
import { TextBuilder } from "../text-builder.ts";

interface PdfLimits {
  readonly pdfPagesMax: number;
  readonly textCharsMax: number;
}

/** Fonts are released after this many pages. */
const pagesPerCleanup = 200;

export async function parsePdf(bytes: Uint8Array, limits: PdfLimits = parserLimits): Promise<ParsedText> {
  const pdfjs = await import("pdfjs-dist/legacy/build/pdf.mjs");
  const task = pdfjs.getDocument({
    // A copy, because pdf.js takes ownership of the buffer.
    data: bytes.slice(),
    // Tables that come with pdf.js: without them Chinese, Japanese and Korean text of older files cannot be read.
    cMapUrl: libraryFolder("cmaps"),
    cMapPacked: true,
    standardFontDataUrl: libraryFolder("standard_fonts"),
    useSystemFonts: false,
    disableFontFace: true,
    useWasm: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    enableXfa: false,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
  try {
    return await readPages(await open(task), limits);
  } finally {
    await task.destroy();
  }
}

function libraryFolder(name: string): string {
  return join(dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json")), name) + sep;
}

async function open(task: PDFDocumentLoadingTask): Promise<PDFDocumentProxy> {
  try {
    return await task.promise;
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException")
      throw invalid("The PDF is protected by a password. Save it without one and upload it again.", { cause: error });
    throw invalid(
      "The PDF is damaged or incomplete and cannot be opened. Upload it again, or open it in a PDF reader and save it again.",
      { cause: error },
    );
  }
}

async function readPages(pdf: PDFDocumentProxy, { pdfPagesMax, textCharsMax }: PdfLimits): Promise<ParsedText> {
  if (pdf.numPages > pdfPagesMax)
    throw invalid(
      `The PDF has ${pdf.numPages.toLocaleString("en-US")} pages, and at most ${pdfPagesMax.toLocaleString("en-US")} are read; split it.`,
    );
  const out = new TextBuilder(textCharsMax);
  const pages: { start: number; page: number }[] = [];
  const empty: number[] = [];
  const unreadable: number[] = [];
  for (let page = 1; page <= pdf.numPages; page += 1) {
    const text = await readPage(pdf, page);
    if (text === undefined) unreadable.push(page);
    else if (text.trim() === "") empty.push(page);
    else {
      out.breakLine(2);
      out.mark((start) => pages.push({ start, page }));
      out.write(text);
    }
    if (page % pagesPerCleanup === 0) await pdf.cleanup();
  }
  if (out.length === 0) throw nothingRead(pdf.numPages, unreadable.length);
  const warnings: string[] = [];
  if (empty.length > 0) warnings.push(`${empty.length} of ${pdf.numPages} pages have no text (scanned images?).`);
  if (unreadable.length > 0)
    warnings.push(
      `${unreadable.length} of ${pdf.numPages} pages are damaged and were skipped (first: page ${unreadable[0]}).`,
    );
  return { text: out.finish(), pages, sections: [], rows: [], warnings };
}

function nothingRead(pages: number, unreadable: number): Error {
  if (pages > 0 && unreadable === pages)
    return invalid("The PDF is damaged: none of its pages can be read. Open it in a PDF reader and save it again.");
  return invalid(
    "The PDF contains no text, only images (scanned pages?). Run text recognition (OCR) on it and upload the result.",
  );
}

/** Undefined if the page is damaged: the others may be worth reading. */
async function readPage(pdf: PDFDocumentProxy, number: number): Promise<string | undefined> {
  try {
    const page = await pdf.getPage(number);
    const content = await page.getTextContent();
    const pieces = content.items.flatMap((item): Piece[] => {
      if (!("str" in item)) return [];
      const transform: readonly unknown[] = item.transform;
      return [
        {
          text: item.str,
          x: Number(transform[4]),
          y: Number(transform[5]),
          width: item.width,
          height: item.height,
          endsLine: item.hasEOL,
        },
      ];
    });
    page.cleanup();
    return layOut(pieces);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return undefined;
  }
}
