/**
 * A small RTF reader: groups, control words and characters. Hidden, deleted and non-text parts (fonts, pictures, styles) are left out;
 * paragraphs with an outline level are headings.
 */
import type { ParsedText } from "../../../ports/parser.ts";
import { Sections } from "../sections.ts";
import { TextBuilder } from "../text-builder.ts";

/** What a group inherits from its parent. */
interface Group {
  ignored: boolean;
  hidden: boolean;
  /** Replacement characters after a \u for readers without Unicode. */
  fallbackChars: number;
}

export function parseRtf(bytes: Uint8Array): ParsedText {
  const reader = new RtfReader(new TextDecoder("latin1").decode(bytes), bytes);
  reader.read();
  return reader.finish();
}

/** A control word, a character in hex, a control symbol, a brace, line ends (which mean nothing), or a run of text. */
const token = /\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^])|([{}])|[\r\n\0]+|([^\\{}\r\n\0]+)/y;

class RtfReader {
  readonly #source: string;
  readonly #bytes: Uint8Array;
  readonly #out = new TextBuilder();
  readonly #sections = new Sections();
  readonly #groups: Group[] = [];
  #group: Group = { ignored: false, hidden: false, fallbackChars: 1 };
  #decoder = codePageDecoder(1_252);
  /** Characters of the code page, decoded together since some take two bytes. */
  #pending: number[] = [];
  #skipChars = 0;
  #atGroupStart = false;
  #starred = false;
  /** The separator is written only before a next cell: no line ends in one. */
  #cellEnded = false;
  #paragraph: { level: number | undefined; start: number | undefined; text: string } = {
    level: undefined,
    start: undefined,
    text: "",
  };

  constructor(source: string, bytes: Uint8Array) {
    this.#source = source;
    this.#bytes = bytes;
  }

  read(): void {
    token.lastIndex = Math.max(this.#source.indexOf("{"), 0);
    for (let found = token.exec(this.#source); found !== null; found = token.exec(this.#source)) {
      const [, word, parameter, hex, symbol, brace, text] = found;
      if (word !== undefined) this.#word(word, parameter === undefined ? undefined : Number(parameter));
      else if (hex !== undefined) this.#byte(Number.parseInt(hex, 16));
      else if (symbol !== undefined) this.#symbol(symbol);
      else if (brace !== undefined) this.#brace(brace);
      else if (text !== undefined) this.#run(found.index, found.index + text.length);
    }
    this.#endParagraph();
  }

  finish(): ParsedText {
    const warnings: string[] = [];
    if (this.#groups.length > 0) warnings.push("The file ends in the middle of a group; its end may be missing.");
    return { text: this.#out.finish(), pages: [], sections: this.#sections.finish(warnings), rows: [], warnings };
  }

  #brace(brace: string): void {
    this.#flush();
    this.#skipChars = 0;
    this.#starred = false;
    this.#atGroupStart = brace === "{";
    if (brace === "{") {
      this.#groups.push(this.#group);
      this.#group = { ...this.#group };
    } else this.#group = this.#groups.pop() ?? this.#group;
  }

  #word(word: string, parameter: number | undefined): void {
    this.#skipChars = 0;
    this.#flush();
    if (this.#atGroupStart && (this.#starred || ignoredDestinations.has(word))) this.#group.ignored = true;
    this.#atGroupStart = false;
    this.#starred = false;
    switch (word) {
      case "bin":
        token.lastIndex += Math.max(parameter ?? 0, 0);
        return;
      case "u":
        this.#unicode(parameter ?? 0);
        return;
      case "uc":
        this.#group.fallbackChars = Math.min(Math.max(parameter ?? 1, 0), 16);
        return;
      case "ansicpg":
        this.#decoder = codePageDecoder(parameter ?? 1_252);
        return;
      case "mac":
        this.#decoder = codePageDecoder(10_000);
        return;
      case "v":
      case "deleted":
        this.#group.hidden = parameter !== 0;
        return;
      case "plain":
        this.#group.hidden = false;
        return;
      default:
        if (!this.#group.ignored) this.#layout(word, parameter);
    }
  }

  #layout(word: string, parameter: number | undefined): void {
    switch (word) {
      case "par":
      case "sect":
      case "row":
      case "nestrow":
        this.#endParagraph();
        return;
      case "line":
        this.#out.newline();
        return;
      case "cell":
      case "nestcell":
        this.#cellEnded = true;
        return;
      case "pard":
        this.#paragraph.level = undefined;
        return;
      case "outlinelevel":
        this.#paragraph.level = parameter !== undefined && parameter >= 0 && parameter <= 8 ? parameter + 1 : undefined;
        return;
      default:
        if (Object.hasOwn(characters, word)) this.#put(characters[word] ?? "");
    }
  }

  #symbol(symbol: string): void {
    if (symbol === "*") {
      this.#starred = true;
      return;
    }
    this.#atGroupStart = false;
    if (this.#skipChars > 0) {
      this.#skipChars -= 1;
      return;
    }
    this.#flush();
    if (symbol === "\\" || symbol === "{" || symbol === "}") this.#put(symbol);
    else if (symbol === "~") this.#put("\u00a0");
    else if (symbol === "_") this.#put("-");
    else if (symbol === "\n" || symbol === "\r") this.#endParagraph();
    else if (symbol === "\t") this.#put("\t");
  }

  #run(from: number, to: number): void {
    this.#atGroupStart = false;
    const skipped = Math.min(this.#skipChars, to - from);
    this.#skipChars -= skipped;
    for (let at = from + skipped; at < to; at += 1) this.#pending.push(this.#bytes[at] ?? 0x20);
    this.#flush();
  }

  #byte(byte: number): void {
    this.#atGroupStart = false;
    if (this.#skipChars > 0) this.#skipChars -= 1;
    else this.#pending.push(byte);
  }

  #unicode(code: number): void {
    this.#skipChars = this.#group.fallbackChars;
    const unit = code < 0 ? code + 65_536 : code;
    if (unit > 0 && unit <= 0x10ffff) this.#put(unit > 0xffff ? String.fromCodePoint(unit) : String.fromCharCode(unit));
  }

  #flush(): void {
    if (this.#pending.length === 0) return;
    const text = this.#decoder.decode(Uint8Array.from(this.#pending));
    this.#pending = [];
    this.#put(text);
  }

  #put(text: string): void {
    if (this.#group.ignored || this.#group.hidden) return;
    if (this.#cellEnded) this.#out.separateCells();
    this.#cellEnded = false;
    const paragraph = this.#paragraph;
    if (paragraph.text === "") {
      this.#out.mark((start) => {
        paragraph.start ??= start;
      });
    }
    if (paragraph.text.length < 1_000) paragraph.text += text;
    this.#out.write(text);
  }

  #endParagraph(): void {
    this.#flush();
    this.#cellEnded = false;
    const { level, start, text } = this.#paragraph;
    if (level !== undefined && start !== undefined) this.#sections.heading(start, level, text);
    // The properties of a paragraph last until \pard; its text does not.
    this.#paragraph = { level, start: undefined, text: "" };
    this.#out.newline();
  }
}

/** The meaning of RTF control words for the text. Groups that begin with these contain no text of the document. */
const ignoredDestinations: ReadonlySet<string> = new Set(
  "fonttbl colortbl stylesheet pict info header headerl headerr headerf footer footerl footerr footerf listtable listoverridetable revtbl rsidtbl generator filetbl xmlnstbl themedata colorschememapping datastore latentstyles object objdata nonshppict fldinst bkmkstart bkmkend mmathPr pgdsctbl template private1 xe tc rxe txe annotation atnid atnauthor atndate atnref atnicn atrfstart atrfend pntext pntxta pntxtb listtext".split(
    " ",
  ),
);

const characters: Readonly<Record<string, string>> = {
  tab: "\t",
  emdash: "—",
  endash: "–",
  emspace: " ",
  enspace: " ",
  qmspace: " ",
  bullet: "•",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
};

/** Code pages by RTF's charset number; the rest of Windows' are `windows-` and the number. */
const codePages: Readonly<Record<number, string>> = {
  866: "ibm866",
  874: "windows-874",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  10_000: "macintosh",
  65_001: "utf-8",
};

function codePageDecoder(page: number): InstanceType<typeof TextDecoder> {
  const label = codePages[page] ?? (page >= 1_250 && page <= 1_258 ? `windows-${page}` : "windows-1252");
  return new TextDecoder(label);
}
