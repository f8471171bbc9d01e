/**
 * Regular expressions of XPath (F&O 5.6.1), as far as they can be matched in linear time. Back references cannot, so they are
 * NOT_SUPPORTED. For an invalid expression the result is undefined, which is a type error where it is used.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { CharTest as Test, RegexNode as Node } from "../../runtime/regex/program.ts";
import { sparqlLimits } from "../limits.ts";

type RegexNode = Node<string>;
type CharTest = Test<string>;

interface RegexFlags {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly extended: boolean;
  readonly literal: boolean;
}

/** Internal: the pattern is not a valid expression. */
class BadPattern extends Error {}

const single: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
const nameStart = /[\p{L}_:]/u;
const nameChar = /[\p{L}\p{Nd}\p{M}\-._:·]/u;
const classes: Readonly<Record<string, CharTest>> = {
  d: (char) => /\p{Nd}/u.test(char),
  w: (char) => !/[\p{P}\p{Z}\p{C}]/u.test(char),
  s: (char) => char === " " || char === "\t" || char === "\n" || char === "\r",
  i: (char) => nameStart.test(char),
  c: (char) => nameChar.test(char),
};

export function parseRegex(
  pattern: string,
  flags: RegexFlags,
): { readonly node: RegexNode; readonly groups: number } | undefined {
  try {
    return new RegexParser(pattern, flags).parse();
  } catch (error) {
    if (error instanceof BadPattern) return undefined;
    throw error;
  }
}

class RegexParser {
  readonly #chars: readonly string[];
  readonly #flags: RegexFlags;
  readonly #pattern: string;
  #at = 0;
  #groups = 0;
  #depth = 0;

  constructor(pattern: string, flags: RegexFlags) {
    this.#pattern = pattern;
    this.#flags = flags;
    this.#chars = Array.from(pattern);
  }

  parse(): { readonly node: RegexNode; readonly groups: number } {
    if (this.#flags.literal)
      return { node: { kind: "sequence", parts: this.#chars.map((char) => this.#exactly(char)) }, groups: 0 };
    const node = this.#choice();
    if (this.#at < this.#chars.length) throw new BadPattern();
    return { node, groups: this.#groups };
  }

  get #char(): string | undefined {
    return this.#chars[this.#at];
  }

  #take(): string {
    const char = this.#chars[this.#at];
    if (char === undefined) throw new BadPattern();
    this.#at += 1;
    return char;
  }

  #accept(char: string): boolean {
    if (this.#char !== char) return false;
    this.#at += 1;
    return true;
  }

  #choice(): RegexNode {
    this.#depth += 1;
    if (this.#depth > sparqlLimits.depthMax) throw new BadPattern();
    const parts = [this.#sequence()];
    while (this.#accept("|")) parts.push(this.#sequence());
    this.#depth -= 1;
    return parts.length === 1 ? (parts[0] as RegexNode) : { kind: "choice", parts };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    for (let char = this.#char; char !== undefined && char !== "|" && char !== ")"; char = this.#char) {
      if (this.#flags.extended && /\s/.test(char)) this.#at += 1;
      else parts.push(this.#repeated(this.#atom()));
    }
    return { kind: "sequence", parts };
  }

  #atom(): RegexNode {
    const char = this.#take();
    if (char === "(") return this.#group();
    if (char === "[") return { kind: "char", test: this.#folded(this.#class()) };
    if (char === ".") return { kind: "char", test: this.#flags.dotAll ? () => true : (c) => c !== "\n" && c !== "\r" };
    const isEdge = (c: string | undefined) => c === undefined || (this.#flags.multiline && c === "\n");
    if (char === "^") return { kind: "assert", test: (before) => isEdge(before) };
    if (char === "$") return { kind: "assert", test: (_, after) => isEdge(after) };
    if (char === "\\") {
      const escaped = this.#escape();
      return typeof escaped === "string" ? this.#exactly(escaped) : { kind: "char", test: escaped };
    }
    if ("?*+{}])".includes(char)) throw new BadPattern();
    return this.#exactly(char);
  }

  #group(): RegexNode {
    let number: number | undefined;
    if (this.#accept("?")) {
      if (!this.#accept(":")) throw new BadPattern();
    } else number = this.#groups += 1;
    const part = this.#choice();
    if (!this.#accept(")")) throw new BadPattern();
    return number === undefined ? part : { kind: "capture", part, number };
  }

  #repeated(part: RegexNode): RegexNode {
    let [min, max] = [1, 1];
    if (this.#accept("*")) [min, max] = [0, Infinity];
    else if (this.#accept("+")) [min, max] = [1, Infinity];
    else if (this.#accept("?")) [min, max] = [0, 1];
    else if (this.#accept("{")) [min, max] = this.#counts();
    else return part;
    if (part.kind === "assert" || min > max) throw new BadPattern();
    return { kind: "repeat", part, min, max, lazy: this.#accept("?") };
  }

  #counts(): readonly [number, number] {
    let text = "";
    for (let char = this.#take(); char !== "}"; char = this.#take()) text += char;
    const found = /^(\d{1,6})(?:(,)(\d{0,6}))?$/.exec(text);
    if (found === null) throw new BadPattern();
    const min = Number(found[1]);
    if (found[2] === undefined) return [min, min];
    return [min, found[3] === "" ? Infinity : Number(found[3])];
  }

  /** After a backslash: a literal character or a class. */
  #escape(): string | CharTest {
    const char = this.#take();
    if (Object.hasOwn(single, char)) return single[char] as string;
    const lower = char.toLowerCase();
    if (Object.hasOwn(classes, lower) && /[dwsicDWSIC]/.test(char)) {
      const test = classes[lower] as CharTest;
      return char === lower ? test : (c) => !test(c);
    }
    if (lower === "p") return this.#property(char === "P");
    if (/[1-9]/.test(char)) throw this.#unsupported("a back reference");
    if (/[\\|.?*+(){}$\-[\]^]/.test(char)) return char;
    throw new BadPattern();
  }

  #property(negated: boolean): CharTest {
    if (!this.#accept("{")) throw new BadPattern();
    let name = "";
    for (let char = this.#take(); char !== "}"; char = this.#take()) name += char;
    if (name.startsWith("Is")) throw this.#unsupported(`a Unicode block (${name})`);
    if (!/^[LMNPZSC][a-z]?$/.test(name)) throw new BadPattern();
    let test: RegExp;
    try {
      test = new RegExp(`\\p{${name}}`, "u");
    } catch {
      throw new BadPattern();
    }
    return (char) => test.test(char) !== negated;
  }

  #unsupported(what: string): PinakesError {
    return new PinakesError(
      "NOT_SUPPORTED",
      `SPARQL: the regular expression ${JSON.stringify(this.#pattern.slice(0, 60))} has ${what}, which is not supported.`,
    );
  }

  /** After the bracket: characters, ranges, escapes, and `-[…]` for a subtraction. */
  #class(): CharTest {
    this.#depth += 1;
    if (this.#depth > sparqlLimits.depthMax) throw new BadPattern();
    const negated = this.#accept("^");
    const tests: CharTest[] = [];
    let without: CharTest | undefined;
    while (!this.#accept("]")) {
      if (this.#char === "-" && this.#chars[this.#at + 1] === "[") {
        this.#at += 2;
        without = this.#class();
        if (!this.#accept("]")) throw new BadPattern();
        break;
      }
      tests.push(this.#classPart());
    }
    if (tests.length === 0) throw new BadPattern();
    this.#depth -= 1;
    return (char) => tests.some((test) => test(char)) !== negated && without?.(char) !== true;
  }

  #classPart(): CharTest {
    const first = this.#classChar();
    if (typeof first !== "string") return first;
    const next = this.#chars[this.#at + 1];
    if (this.#char !== "-" || next === "]" || next === "[") return (char) => char === first;
    this.#at += 1;
    const last = this.#classChar();
    if (typeof last !== "string") throw new BadPattern();
    const [from, to] = [first.codePointAt(0) as number, last.codePointAt(0) as number];
    if (from > to) throw new BadPattern();
    return (char) => {
      const code = char.codePointAt(0) as number;
      return code >= from && code <= to;
    };
  }

  #classChar(): string | CharTest {
    const char = this.#take();
    if (char === "\\") return this.#escape();
    if (char === "[") throw new BadPattern();
    return char;
  }

  #exactly(wanted: string): RegexNode {
    return { kind: "char", test: this.#folded((char) => char === wanted) };
  }

  /** Case-insensitive: the character in either case. */
  #folded(test: CharTest): CharTest {
    if (!this.#flags.ignoreCase) return test;
    return (char) => test(char) || test(char.toLowerCase()) || test(char.toUpperCase());
  }
}
