/** Writes the text of one part of a docx (the body, footnotes or endnotes) from its stream of tags. */
import { outlineLevel, type ParagraphStyle, type Styles } from "./docx-styles.ts";
import type { XmlHandler } from "./docx-xml.ts";
import type { Sections } from "../sections.ts";
import type { TextBuilder } from "../text-builder.ts";

type Attribute = (name: string) => string | undefined;

/** Deleted or moved away in tracked changes, instructions of fields, and the fallback version of a drawing. */
const skipped = new Set(
  "del moveFrom delText instrText delInstrText Fallback pPrChange rPrChange sectPrChange tblPrChange tcPrChange trPrChange".split(
    " ",
  ),
);

interface Paragraph {
  style: ParagraphStyle | undefined;
  outline: number | undefined;
  listItem: boolean | undefined;
  listLevel: number;
  text: string;
  begun: boolean;
  start: number | undefined;
}

/** Numbers of footnotes and endnotes, in the order of their references in the text. */
export type Notes = Map<string, number>;

export class DocxBody implements XmlHandler {
  readonly #out: TextBuilder;
  readonly #sections: Sections;
  readonly #styles: Styles;
  readonly #notes: Notes;
  #skipDepth = 0;
  /** A text box puts paragraphs into a paragraph. */
  readonly #paragraphs: Paragraph[] = [];
  readonly #tables: { cells: number }[] = [];
  #cellDepth = 0;
  #inText = false;
  #inRunProperties = false;
  #inParagraphProperties = false;
  #hidden = false;

  constructor(out: TextBuilder, sections: Sections, styles: Styles, notes: Notes) {
    this.#out = out;
    this.#sections = sections;
    this.#styles = styles;
    this.#notes = notes;
  }

  open(name: string, attribute: Attribute): void {
    if (this.#skipDepth > 0 || skipped.has(name)) this.#skipDepth += 1;
    else if (this.#inParagraphProperties) this.#paragraphProperty(name, attribute);
    else if (this.#inRunProperties)
      this.#hidden ||= name === "vanish" && !/^(?:0|false|off)$/.test(attribute("val") ?? "");
    else this.#openContent(name, attribute);
  }

  close(name: string): void {
    if (this.#skipDepth > 0) {
      this.#skipDepth -= 1;
      return;
    }
    if (name === "pPr") this.#inParagraphProperties = false;
    else if (name === "rPr") this.#inRunProperties = false;
    else if (!this.#inParagraphProperties && !this.#inRunProperties) this.#closeContent(name);
  }

  text(text: string): void {
    if (this.#inText && this.#skipDepth === 0 && !this.#hidden) this.#write(text);
  }

  #openContent(name: string, attribute: Attribute): void {
    switch (name) {
      case "p":
        if (this.#paragraphs.length > 0) this.#breakLine(1);
        this.#paragraphs.push({
          style: undefined,
          outline: undefined,
          listItem: undefined,
          listLevel: 0,
          text: "",
          begun: false,
          start: undefined,
        });
        return;
      case "pPr":
        this.#inParagraphProperties = true;
        return;
      case "rPr":
        this.#inRunProperties = true;
        return;
      case "r":
        this.#hidden = false;
        return;
      case "t":
        this.#inText = true;
        return;
      case "tbl":
        this.#breakLine(2);
        this.#tables.push({ cells: 0 });
        return;
      case "tr":
      case "tc":
        this.#openTable(name);
        return;
      default:
        this.#openMark(name, attribute);
    }
  }

  #openMark(name: string, attribute: Attribute): void {
    if (this.#hidden || this.#paragraphs.length === 0) return;
    if (name === "tab" || name === "ptab") this.#write("\t");
    else if (name === "noBreakHyphen") this.#write("-");
    else if (name === "cr" || (name === "br" && !/^(?:page|column)$/.test(attribute("type") ?? "")))
      this.#write(this.#cellDepth > 0 ? " " : "\n");
    else if (name === "footnoteReference" || name === "endnoteReference")
      this.#write(this.#noteMark(name, attribute("id") ?? ""));
  }

  #closeContent(name: string): void {
    switch (name) {
      case "p":
        this.#endParagraph();
        return;
      case "r":
        this.#hidden = false;
        return;
      case "t":
        this.#inText = false;
        return;
      case "tc":
        this.#cellDepth -= 1;
        return;
      case "tr":
        this.#breakLine(1);
        return;
      case "tbl":
        this.#tables.pop();
        this.#breakLine(2);
        return;
      default:
    }
  }

  #openTable(name: "tr" | "tc"): void {
    const table = this.#tables.at(-1);
    if (name === "tc") this.#cellDepth += 1;
    if (table === undefined) return;
    if (name === "tr") table.cells = 0;
    else {
      if (table.cells > 0) this.#out.separateCells();
      table.cells += 1;
    }
  }

  #paragraphProperty(name: string, attribute: Attribute): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined) return;
    const value = attribute("val");
    if (name === "pStyle" && value !== undefined) paragraph.style = this.#styles(value);
    else if (name === "outlineLvl") paragraph.outline = outlineLevel(value);
    else if (name === "numId") paragraph.listItem = value !== "0";
    else if (name === "ilvl") paragraph.listLevel = Math.min(Number(value) || 0, 8);
  }

  #noteMark(name: string, id: string): string {
    const key = `${name === "footnoteReference" ? "footnote" : "endnote"} ${id}`;
    const number = this.#notes.get(key) ?? this.#notes.size + 1;
    this.#notes.set(key, number);
    return `[${number}]`;
  }

  #write(text: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined && !paragraph.begun) this.#beginParagraph(paragraph);
    if (paragraph !== undefined && paragraph.text.length < 1_000) paragraph.text += text;
    this.#out.write(text);
  }

  #beginParagraph(paragraph: Paragraph): void {
    paragraph.begun = true;
    const listItem = isListItem(paragraph);
    if (this.#out.atLineStart) {
      this.#breakLine(listItem ? 1 : 2);
      if (listItem && this.#cellDepth === 0) this.#out.write(`${"  ".repeat(paragraph.listLevel)}- `);
    }
    this.#out.mark((start) => {
      paragraph.start = start;
    });
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    if (paragraph === undefined) return;
    const level = levelOf(paragraph);
    if (level !== undefined && paragraph.start !== undefined)
      this.#sections.heading(paragraph.start, level, paragraph.text);
    this.#breakLine(isListItem(paragraph) ? 1 : 2);
  }

  /** Inside a cell nothing may break the row, not even a nested table. */
  #breakLine(newlines: number): void {
    if (this.#cellDepth > 0) this.#out.space();
    else this.#out.breakLine(newlines);
  }
}

function levelOf({ outline, style }: Paragraph): number | undefined {
  if (outline === undefined) return style?.level;
  return outline < 9 ? outline + 1 : undefined;
}

function isListItem(paragraph: Paragraph): boolean {
  return levelOf(paragraph) === undefined && (paragraph.listItem ?? paragraph.style?.listItem ?? false);
}
