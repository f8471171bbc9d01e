/**
 * XML: the text between the tags, with the path of elements as sections. Entities that the file defines itself are never expanded: a few
 * lines of them can mean gigabytes.
 */
import { SaxesParser } from "saxes";
import { invalid } from "../../../domain/errors.ts";
import type { ParsedText } from "../../../ports/parser.ts";
import { parserLimits } from "../limits.ts";
import { Sections } from "../sections.ts";
import { TextBuilder } from "../text-builder.ts";

const sliceChars = 65_536;

export function parseXml(xml: string): ParsedText {
  const reader = new XmlReader();
  for (let at = 0; at < xml.length; at += sliceChars) reader.write(xml.slice(at, at + sliceChars));
  return reader.finish();
}

interface OpenElement {
  readonly name: string;
  /** Inline: neither a separate line nor a separate section. */
  readonly inline: boolean;
  hasText: boolean;
}

class XmlReader {
  readonly #parser = new SaxesParser({ xmlns: false, position: true });
  readonly #out = new TextBuilder();
  readonly #sections = new Sections();
  readonly #open: OpenElement[] = [];
  #inlineDepth = 0;
  #path = "";
  #definesEntities = false;
  #unexpanded = 0;

  constructor() {
    this.#parser.on("error", (error) => this.#refuse(error));
    this.#parser.on("doctype", (doctype) => {
      this.#definesEntities = doctype.includes("<!ENTITY");
    });
    this.#parser.on("opentag", ({ name }) => this.#openElement(name));
    this.#parser.on("closetag", () => this.#closeElement());
    this.#parser.on("text", (text) => this.#text(text));
    this.#parser.on("cdata", (text) => this.#text(text));
  }

  write(chunk: string): void {
    this.#parser.write(chunk);
  }

  finish(): ParsedText {
    this.#parser.close();
    const warnings: string[] = [];
    if (this.#unexpanded > 0)
      warnings.push(`${this.#unexpanded} references to entities that the file defines itself were left unexpanded.`);
    return { text: this.#out.finish(), pages: [], sections: this.#sections.finish(warnings), rows: [], warnings };
  }

  #refuse(error: Error): void {
    if (this.#definesEntities && error.message.includes("undefined entity")) {
      this.#unexpanded += 1;
      return;
    }
    const message = error.message.replace(/^\d+:\d+: /, "").replace(/\.$/, "");
    throw invalid(
      `The file is not valid XML: line ${this.#parser.line}, column ${this.#parser.column}: ${message}. Correct it, or upload the file as .txt.`,
    );
  }

  #openElement(name: string): void {
    const inline = this.#inlineDepth > 0 || this.#open.at(-1)?.hasText === true;
    if (inline) this.#inlineDepth += 1;
    else this.#out.breakLine(1);
    this.#open.push({ name, inline, hasText: false });
  }

  #closeElement(): void {
    if (this.#open.pop()?.inline === true) this.#inlineDepth -= 1;
    else this.#out.breakLine(1);
  }

  #text(text: string): void {
    const element = this.#open.at(-1);
    if (element !== undefined && !element.inline && text.trim() !== "") {
      element.hasText = true;
      this.#markSection();
    }
    this.#out.flow(text);
  }

  #markSection(): void {
    const path = this.#open.slice(0, parserLimits.xmlPathNamesMax).map(({ name }) => name);
    const joined = path.join("/");
    if (joined === this.#path) return;
    this.#path = joined;
    this.#out.mark((start) => this.#sections.add(start, path));
  }
}
