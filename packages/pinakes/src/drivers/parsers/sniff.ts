/** Detects the type of bytes, whatever the name of the file. */
import { invalid } from "../../domain/errors.ts";
import type { FileType } from "../../ports/parser.ts";
import { utf16Of } from "./decode-text.ts";

/** `html`, `xml` and `json` are hints: such bytes are good text files too. */
export type Looks = keyof typeof names;

const names = {
  pdf: "a PDF document",
  docx: "a Word document (docx)",
  xlsx: "an Excel workbook",
  pptx: "a PowerPoint presentation",
  zip: "a ZIP archive",
  ole: "an old Office file (.doc, .xls, .ppt) or an Office file with a password",
  rtf: "an RTF document",
  png: "a PNG image",
  jpeg: "a JPEG image",
  gif: "a GIF image",
  webp: "a WebP image",
  tiff: "a TIFF image",
  gzip: "a gzip archive",
  elf: "a program (ELF)",
  exe: "a program (Windows)",
  html: "an HTML page",
  xml: "an XML file",
  json: "a JSON file",
  text: "plain text",
  binary: "binary data",
} as const;

const expected: Readonly<Record<FileType, string>> = {
  pdf: "a PDF document",
  docx: "a Word document (docx)",
  txt: "text",
  md: "Markdown",
  csv: "a CSV table",
  html: "an HTML page",
  json: "JSON",
  xml: "XML",
  yaml: "YAML",
  rtf: "an RTF document",
  log: "a log",
  ttl: "Turtle",
  nt: "N-Triples",
  nq: "N-Quads",
  trig: "TriG",
  jsonld: "JSON-LD",
  rdf: "RDF/XML",
};

/** Rejects bytes that clearly contradict the file's name. */
export function checkType(bytes: Uint8Array, fileType: FileType): void {
  if (bytes.length === 0) throw invalid("The file is empty.");
  if (fileType === "pdf" && holdsPdfHeader(bytes)) return;
  const looks = sniff(bytes);
  if (matches(looks, fileType)) return;
  throw invalid(
    `The file should be ${expected[fileType]} by its name, but it looks like ${names[looks]}.${advice(looks, fileType)}`,
  );
}

function matches(looks: Looks, fileType: FileType): boolean {
  switch (fileType) {
    case "pdf":
    case "rtf":
      return looks === fileType;
    case "docx":
      // Any archive: the parser reports what is missing in it.
      return looks === "docx" || looks === "zip";
    default:
      return looks === "text" || looks === "html" || looks === "xml" || looks === "json";
  }
}

function advice(looks: Looks, fileType: FileType): string {
  if (looks === "ole" && fileType === "docx") return " Save it in Word as .docx, without a password.";
  if (looks === "pdf" || looks === "docx" || looks === "rtf") return ` Give it the extension .${looks}.`;
  if (looks === "text" || looks === "html" || looks === "xml" || looks === "json")
    return ` Give it the extension .${looks === "text" ? "txt" : looks}, or upload the right file.`;
  return " Upload the right file, or convert it first.";
}

const magic: readonly (readonly [Looks, readonly number[]])[] = [
  ["ole", [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]],
  ["png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["jpeg", [0xff, 0xd8, 0xff]],
  ["gzip", [0x1f, 0x8b, 0x08]],
  ["elf", [0x7f, 0x45, 0x4c, 0x46]],
  ["tiff", [0x49, 0x49, 0x2a, 0x00]],
  ["tiff", [0x4d, 0x4d, 0x00, 0x2a]],
];

export function sniff(bytes: Uint8Array): Looks {
  for (const [looks, first] of magic) if (first.every((byte, i) => bytes[i] === byte)) return looks;
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1_024));
  if (head.startsWith("PK\u0003\u0004") || head.startsWith("PK\u0005\u0006")) return sniffZip(bytes);
  if (/^GIF8[79]a/.test(head)) return "gif";
  if (/^RIFF[^]{4}WEBP/.test(head)) return "webp";
  // A program begins with MZ too, but so may a text; the rest of a program is not text.
  if (head.startsWith("MZ") && isBinary(bytes)) return "exe";
  const start = head.replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, "");
  if (/^%PDF-\d\.\d\s*[\r\n]/.test(start)) return "pdf";
  if (start.startsWith("{\\rtf")) return "rtf";
  if (isBinary(bytes)) return "binary";
  if (/^<(?:!doctype\s+html|html|head|body)\b/i.test(start)) return "html";
  if (/^<(?:\?xml|!DOCTYPE|[a-z][\w.:-]*[\s/>])/i.test(start)) return "xml";
  if (/^(?:\{\s*["}]|\[\s*[\]{["\d])/.test(start)) return "json";
  return "text";
}

/** Names of entries are not compressed, so they are found without opening the archive. */
function sniffZip(bytes: Uint8Array): Looks {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.includes("word/document")) return "docx";
  if (buffer.includes("xl/workbook")) return "xlsx";
  if (buffer.includes("ppt/presentation")) return "pptx";
  return "zip";
}

/** Some programs write a few bytes before the header; readers accept it within the first 1,024. */
function holdsPdfHeader(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1_024)).includes("%PDF-");
}

const sampleBytesMax = 65_536;
/** Valid UTF-8 may contain some control characters and still be text; other bytes (one in ten of noise is a control character) hardly. */
const controlShareMaxUtf8 = 0.3;
const controlShareMax = 0.05;

function isBinary(bytes: Uint8Array): boolean {
  if (utf16Of(bytes) !== undefined) return false;
  const sample = bytes.subarray(0, sampleBytesMax);
  let control = 0;
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) control += 1;
  return control > sample.length * (isUtf8(sample) ? controlShareMaxUtf8 : controlShareMax);
}

function isUtf8(sample: Uint8Array): boolean {
  try {
    // As a stream, so that a character truncated at the end of the sample is no error.
    new TextDecoder("utf-8", { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}
