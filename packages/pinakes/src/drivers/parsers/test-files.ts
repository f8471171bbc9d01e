/** Generated files: real PDFs by pdfkit or by hand, real docx by fflate, and helpers to inspect the parsed result. */
import { zipSync } from "fflate";
import Pdfkit from "pdfkit";
import type { ParsedText } from "../../ports/parser.ts";

export const encode = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));

/** One page for each drawing. */
export async function makePdf(
  draw: readonly ((doc: PDFKit.PDFDocument) => void)[],
  options: PDFKit.PDFDocumentOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const doc = new Pdfkit({ margin: 72, size: "A4", autoFirstPage: false, ...options });
  const parts: Buffer[] = [];
  const ended = new Promise<void>((resolve) => {
    doc.on("data", (part: Buffer) => parts.push(part));
    doc.on("end", () => resolve());
  });
  for (const page of draw) {
    doc.addPage();
    page(doc);
  }
  doc.end();
  await ended;
  return new Uint8Array(Buffer.concat(parts));
}

/** By hand, since pdfkit takes long for thousands of pages. Page n says "This is page n." */
export function manyPagesPdf(pages: number): Uint8Array<ArrayBuffer> {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages} /Kids [${Array.from({ length: pages }, (_, i) => `${4 + 2 * i} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  for (let page = 1; page <= pages; page += 1) {
    const stream = `BT /F1 12 Tf 72 720 Td (This is page ${page}.) Tj ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${objects.length + 2} 0 R >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    );
  }
  return rawPdf(objects);
}

/** Objects from number 1; the first is the catalog. Streams may hold any byte as a latin1 character. */
export function rawPdf(objects: readonly string[]): Uint8Array<ArrayBuffer> {
  const parts = ["%PDF-1.4\n"];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [i, body] of objects.entries()) {
    offsets.push(length);
    const part = `${i + 1} 0 obj\n${body}\nendobj\n`;
    parts.push(part);
    length += part.length;
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`,
  );
  return new Uint8Array(Buffer.from(parts.join(""), "latin1"));
}

const namespaces =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"';

/** A docx of this body and these additional parts (`styles.xml`, …), inside the usual package. */
export function makeDocx(body: string, parts: Readonly<Record<string, string>> = {}): Uint8Array<ArrayBuffer> {
  const files: Record<string, Uint8Array> = {
    "[Content_Types].xml": encode(
      '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    ),
    "_rels/.rels": encode(
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    ),
    "word/document.xml": encode(
      `<?xml version="1.0" encoding="UTF-8"?><w:document ${namespaces}><w:body>${body}</w:body></w:document>`,
    ),
  };
  for (const [name, xml] of Object.entries(parts)) {
    const root = name.replace(".xml", "");
    files[`word/${name}`] = encode(`<w:${root} ${namespaces}>${xml}</w:${root}>`);
  }
  return zipSync(files);
}

/** A paragraph of a docx. */
export const par = (text: string, style?: string): string =>
  `<w:p>${style === undefined ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;

/** The page, section or row that a word of the text belongs to: the last that begins at or before it. */
export function pageOf({ text, pages }: ParsedText, word: string): number | undefined {
  return pages.findLast(({ start }) => start <= place(text, word))?.page;
}

export function sectionOf({ text, sections }: ParsedText, word: string): readonly string[] | undefined {
  return sections.findLast(({ start }) => start <= place(text, word))?.path;
}

export function rowOf({ text, rows }: ParsedText, word: string): number | undefined {
  return rows.findLast(({ start }) => start <= place(text, word))?.row;
}

function place(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) throw new Error(`"${word}" is not in the text: ${text.slice(0, 500)}`);
  return at;
}
