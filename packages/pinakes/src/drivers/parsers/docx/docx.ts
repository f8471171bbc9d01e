/** DOCX: the body's paragraphs, headings, lists and tables, then the referenced footnotes and endnotes. */
import { invalid } from "../../../domain/errors.ts";
import type { ParsedText } from "../../../ports/parser.ts";
import { DocxBody, type Notes } from "./docx-body.ts";
import { readStyles, type Styles } from "./docx-styles.ts";
import { readXml, type XmlHandler } from "./docx-xml.ts";
import { parserLimits } from "../limits.ts";
import { Sections } from "../sections.ts";
import { TextBuilder } from "../text-builder.ts";
import { Zip, type ZipEntry } from "./zip.ts";

export function parseDocx(
  bytes: Uint8Array,
  { docxInflatedBytesMax }: { readonly docxInflatedBytesMax: number } = parserLimits,
): ParsedText {
  const zip = new Zip(bytes, docxInflatedBytesMax);
  const main = mainPart(zip);
  const folder = main.name.slice(0, main.name.lastIndexOf("/") + 1);
  const styles = readStyles(zip, zip.entries.get(`${folder}styles.xml`));
  const out = new TextBuilder();
  const sections = new Sections();
  const notes: Notes = new Map();
  readXml(zip, main, new DocxBody(out, sections, styles, notes));
  for (const kind of ["footnote", "endnote"] as const) {
    const entry = zip.entries.get(`${folder}${kind}s.xml`);
    if (entry !== undefined && notes.size > 0) appendNotes(zip, entry, kind, { out, styles, notes });
  }
  const warnings: string[] = [];
  return { text: out.finish(), pages: [], sections: sections.finish(warnings), rows: [], warnings };
}

/** Usually word/document.xml, but the archive decides. */
function mainPart(zip: Zip): ZipEntry {
  let target = "word/document.xml";
  const relations = zip.entries.get("_rels/.rels");
  if (relations !== undefined) {
    readXml(zip, relations, {
      open(name, attribute) {
        if (name === "Relationship" && attribute("Type")?.endsWith("/officeDocument") === true)
          target = attribute("Target")?.replace(/^\//, "") ?? target;
      },
    });
  }
  const entry = zip.entries.get(target) ?? zip.entries.get("word/document.xml");
  if (entry !== undefined && !/^(?:xl|ppt)\//.test(target)) return entry;
  throw invalid(
    "The file is a ZIP archive but no Word document: it has no word/document.xml. Open it in Word and save it as .docx.",
  );
}

interface NoteFiles {
  readonly out: TextBuilder;
  readonly styles: Styles;
  readonly notes: Notes;
}

/** Each referenced note, as a paragraph with its number. Headings do not occur in notes. */
function appendNotes(zip: Zip, entry: ZipEntry, kind: "footnote" | "endnote", { out, styles, notes }: NoteFiles): void {
  const body = new DocxBody(out, new Sections(), styles, new Map());
  let shown = false;
  out.breakLine(2);
  const handler: XmlHandler = {
    open(name, attribute) {
      if (name === kind) {
        const number = notes.get(`${kind} ${attribute("id") ?? ""}`);
        shown = number !== undefined;
        if (shown) out.write(`[${number}] `);
      } else if (shown) body.open(name, attribute);
    },
    close(name) {
      if (name === kind) {
        shown = false;
        out.breakLine(1);
      } else if (shown) body.close(name);
    },
    text(text) {
      if (shown) body.text(text);
    },
  };
  readXml(zip, entry, handler);
}
