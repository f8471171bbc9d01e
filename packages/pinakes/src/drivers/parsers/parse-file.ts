/**
 * One file to text: detects its type, decodes it, runs the parser of its type, and validates the result.
 *
 * Invariants of the result, asserted here: positions strictly ascend and lie inside the text; pages and rows count up.
 */
import { PinakesError, invalid } from "../../domain/errors.ts";
import { invariant } from "../../domain/invariant.ts";
import type { FileType, ParsedText, ParseInput } from "../../ports/parser.ts";
import { parseCsv } from "./csv/csv.ts";
import { decodeText } from "./decode-text.ts";
import { parseDocx } from "./docx/docx.ts";
import { parseHtml } from "./html/html.ts";
import { parseJson } from "./json/json.ts";
import { parseMarkdown } from "./markdown/markdown.ts";
import { parsePdf } from "./pdf/pdf.ts";
import { parseRtf } from "./rtf/rtf.ts";
import { checkType } from "./sniff.ts";
import { parseText } from "./text.ts";
import { parseXml } from "./xml/xml.ts";
import { parseYaml } from "./yaml/yaml.ts";

export async function parseFile({ bytes, fileType }: ParseInput): Promise<ParsedText> {
  checkType(bytes, fileType);
  let parsed: ParsedText;
  try {
    parsed = await parseAs(fileType, bytes);
  } catch (error) {
    throw explained(error, fileType);
  }
  if (parsed.text.trim() === "") throw invalid("The file contains no text.");
  checkPositions(parsed);
  // Half of a surrogate pair cannot be stored as UTF-8; its replacement is as long, so positions stay right.
  return { ...parsed, text: parsed.text.toWellFormed() };
}

const textParsers: Readonly<Record<Exclude<FileType, "pdf" | "docx" | "rtf">, (text: string) => ParsedText>> = {
  txt: parseText,
  log: parseText,
  md: parseMarkdown,
  csv: (text) => parseCsv(text),
  html: parseHtml,
  json: parseJson,
  xml: parseXml,
  yaml: (text) => parseYaml(text),
  // Their triples are read when they go into the graph; the text is what citations quote.
  ttl: parseText,
  nt: parseText,
  nq: parseText,
  trig: parseText,
  jsonld: parseText,
  rdf: parseText,
};

async function parseAs(fileType: FileType, bytes: Uint8Array): Promise<ParsedText> {
  if (fileType === "pdf") return parsePdf(bytes);
  if (fileType === "docx") return parseDocx(bytes);
  if (fileType === "rtf") return parseRtf(bytes);
  const { text, warnings } = decodeText(bytes);
  if (text.trim() === "") throw invalid("The file contains no text.");
  const parsed = textParsers[fileType](text);
  return { ...parsed, warnings: [...warnings, ...parsed.warnings] };
}

function explained(error: unknown, fileType: FileType): PinakesError {
  if (PinakesError.isInstance(error)) return error;
  if (error instanceof RangeError)
    return invalid("The file is nested too deeply to be read. Flatten it, or upload it as .txt.", { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return invalid(
    `The file could not be read as ${fileType}: ${message}. It may be damaged; save it again and upload it again.`,
    { cause: error },
  );
}

function checkPositions({ text, pages, sections, rows }: ParsedText): void {
  for (const list of [pages, sections, rows]) {
    let before = -1;
    for (const { start } of list) {
      invariant(
        start > before && start < text.length,
        "INTERNAL",
        "Positions of a parsed text must ascend and be inside it.",
      );
      before = start;
    }
  }
}
