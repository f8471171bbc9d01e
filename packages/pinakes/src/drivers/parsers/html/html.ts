/** HTML: the visible text. Blocks make lines, rows of a table are lines, headings make sections. */
import { Parser } from "htmlparser2";
import { invalid } from "../../../domain/errors.ts";
import type { ParsedText } from "../../../ports/parser.ts";
import { parserLimits } from "../limits.ts";
import { Sections, headingText } from "../sections.ts";
import { TextBuilder } from "../text-builder.ts";

const unseen = new Set(
  "script style template noscript iframe object embed applet audio video canvas svg datalist head".split(" "),
);
const blocks = new Set(
  "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form header hgroup hr html legend li main menu nav ol optgroup option p pre search section summary table tbody tfoot thead tr ul".split(
    " ",
  ),
);
/** With a blank line around. */
const apart = new Set("p h1 h2 h3 h4 h5 h6 table ul ol dl pre blockquote hr figure section article".split(" "));

interface Heading {
  readonly level: number;
  text: string;
  start: number | undefined;
}

export function parseHtml(html: string): ParsedText {
  const reader = new HtmlReader();
  const parser = new Parser(reader, { decodeEntities: true, lowerCaseTags: true });
  parser.write(html);
  parser.end();
  return reader.finish();
}

class HtmlReader {
  readonly #out = new TextBuilder();
  readonly #headings: Heading[] = [];
  #heading: Heading | undefined;
  #title = "";
  #inTitle = false;
  /** Open elements since an invisible one, itself included. */
  #unseenDepth = 0;
  #depth = 0;
  #preDepth = 0;
  #lists = 0;
  /** For each open table, whether a cell of its row has begun and whether one is open. */
  readonly #tables: { cells: number; inCell: boolean }[] = [];

  onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    // The parser searches all open elements at each opening and closing tag.
    if (this.#depth > parserLimits.htmlLevelsMax)
      throw invalid(
        `The page nests elements more than ${parserLimits.htmlLevelsMax} levels deep. Close them, or upload it as .txt.`,
      );
    if (name === "title" && this.#title === "" && this.#unseenDepth <= 1) this.#inTitle = true;
    if (this.#unseenDepth > 0 || unseen.has(name) || isHidden(attributes)) {
      this.#unseenDepth += 1;
      return;
    }
    if (name === "title") return;
    const level = headingLevel(name);
    if (level !== undefined || blocks.has(name)) this.#breakBlock(name);
    if (level !== undefined) this.#openHeading(level);
    else this.#openSpecial(name);
  }

  ontext(text: string): void {
    if (this.#inTitle) this.#title += text;
    if (this.#unseenDepth > 0 || this.#inTitle) return;
    if (this.#heading !== undefined) this.#heading.text += text;
    if (this.#preDepth > 0) this.#out.write(text);
    else this.#out.flow(text);
  }

  onclosetag(name: string): void {
    this.#depth -= 1;
    if (name === "title") this.#inTitle = false;
    if (this.#unseenDepth > 0) {
      this.#unseenDepth -= 1;
      return;
    }
    if (headingLevel(name) !== undefined) this.#closeHeading();
    if (name === "pre") this.#preDepth -= 1;
    if (name === "ul" || name === "ol") this.#lists -= 1;
    const table = this.#tables.at(-1);
    if ((name === "td" || name === "th") && table !== undefined) table.inCell = false;
    if (name === "table") this.#tables.pop();
    if (blocks.has(name) || headingLevel(name) !== undefined) this.#breakBlock(name);
  }

  finish(): ParsedText {
    const warnings: string[] = [];
    const sections = new Sections();
    const title = headingText(this.#title);
    // The title replaces a missing first heading, above all others.
    if (title !== "" && !this.#headings.some(({ level }) => level === 1) && this.#out.length > 0)
      sections.heading(0, 1, title);
    for (const { start, level, text } of this.#headings) if (start !== undefined) sections.heading(start, level, text);
    return { text: this.#out.finish(), pages: [], sections: sections.finish(warnings), rows: [], warnings };
  }

  #openSpecial(name: string): void {
    const table = this.#tables.at(-1);
    switch (name) {
      case "br":
        if (table?.inCell === true) this.#out.space();
        else this.#out.newline();
        return;
      case "pre":
        this.#preDepth += 1;
        return;
      case "ul":
      case "ol":
        this.#lists += 1;
        return;
      case "li":
        this.#out.write(`${"  ".repeat(Math.min(Math.max(this.#lists - 1, 0), 8))}- `);
        return;
      case "table":
        this.#tables.push({ cells: 0, inCell: false });
        return;
      case "tr":
        if (table !== undefined) table.cells = 0;
        return;
      case "td":
      case "th":
        this.#openCell(table);
        return;
      default:
    }
  }

  #openCell(table: { cells: number; inCell: boolean } | undefined): void {
    if (table === undefined) return;
    if (table.cells > 0) this.#out.separateCells();
    table.cells += 1;
    table.inCell = true;
  }

  #openHeading(level: number): void {
    this.#closeHeading();
    const heading: Heading = { level, text: "", start: undefined };
    this.#heading = heading;
    this.#out.mark((start) => {
      heading.start = start;
    });
  }

  #closeHeading(): void {
    if (this.#heading !== undefined) this.#headings.push(this.#heading);
    this.#heading = undefined;
  }

  /** Inside a cell a block must not break the row. */
  #breakBlock(name: string): void {
    if (this.#tables.at(-1)?.inCell === true && name !== "tr" && name !== "table") this.#out.space();
    else
      this.#out.breakLine(apart.has(name) && this.#tables.length === 0 && !(this.#lists > 0 && name !== "pre") ? 2 : 1);
  }
}

function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  if (Object.hasOwn(attributes, "hidden")) return true;
  return /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b/i.test(attributes["style"] ?? "");
}
