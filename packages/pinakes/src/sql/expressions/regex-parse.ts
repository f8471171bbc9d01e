/** The syntax of REGEXMATCH, as far as it can be matched in linear time. Back references and look-around cannot. */
import { invalid, type PinakesError } from "../../domain/errors.ts";
import type { CharTest as Test, RegexNode as Node } from "../../runtime/regex/program.ts";
import { sqlLimits } from "../limits.ts";

type RegexNode = Node<number>;
type CharTest = Test<number>;

interface RegexFlags {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly extended: boolean;
}

const isWordChar: CharTest = (code) =>
  code === 95 || isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const isDigit: CharTest = (code) => code >= 48 && code <= 57;
const isSpace: CharTest = (code) => /\s/u.test(String.fromCodePoint(code));
const classes: Readonly<Record<string, CharTest>> = { d: isDigit, w: isWordChar, s: isSpace };
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11 };

export function parseRegex(pattern: string, flags: RegexFlags): RegexNode {
  return new RegexParser(pattern, flags).parse();
}

class RegexParser {
  readonly #pattern: string;
  readonly #chars: readonly string[];
  readonly #flags: RegexFlags;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, flags: RegexFlags) {
    this.#pattern = pattern;
    this.#chars = Array.from(pattern);
    this.#flags = flags;
  }

  parse(): RegexNode {
    const node = this.#choice();
    if (this.#at < this.#chars.length) throw this.#refuse('")" without "("');
    return node;
  }

  #refuse(what: string): PinakesError {
    return invalid(
      `query: REGEXMATCH: the pattern ${JSON.stringify(this.#pattern.slice(0, 60))} has ${what} at character ${this.#at + 1}.`,
    );
  }

  get #char(): string | undefined {
    return this.#chars[this.#at];
  }

  #choice(): RegexNode {
    this.#depth += 1;
    if (this.#depth > sqlLimits.depthMax) throw this.#refuse(`more than ${sqlLimits.depthMax} nested groups`);
    const parts = [this.#sequence()];
    while (this.#char === "|") {
      this.#at += 1;
      parts.push(this.#sequence());
    }
    this.#depth -= 1;
    return parts.length === 1 ? (parts[0] as RegexNode) : { kind: "choice", parts };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#char !== undefined && this.#char !== "|" && this.#char !== ")") {
      if (this.#flags.extended && /\s/u.test(this.#char)) this.#at += 1;
      else parts.push(this.#quantified(this.#atom()));
    }
    return { kind: "sequence", parts };
  }

  #quantified(part: RegexNode): RegexNode {
    const bounds = this.#quantifier();
    if (bounds === undefined) return part;
    if (part.kind === "assert") throw this.#refuse("a quantifier after an assertion");
    // Lazy or greedy makes no difference to whether a pattern matches.
    if (this.#char === "?") this.#at += 1;
    else if (this.#char === "+") throw this.#refuse("a possessive quantifier, which is not supported,");
    if (this.#quantifier() !== undefined)
      throw this.#refuse("a quantifier after a quantifier; put the inner one in parentheses");
    return { kind: "repeat", part, ...bounds };
  }

  #quantifier(): { min: number; max: number } | undefined {
    const char = this.#char;
    if (char === "*" || char === "+" || char === "?") {
      this.#at += 1;
      return { min: char === "+" ? 1 : 0, max: char === "?" ? 1 : Infinity };
    }
    if (char !== "{") return undefined;
    const found = /^\{(\d{1,5})(,(\d{1,5})?)?\}/.exec(this.#chars.slice(this.#at, this.#at + 14).join(""));
    if (found === null) return undefined;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === undefined ? Infinity : Number(found[3]);
    if (max < min) throw this.#refuse("a quantifier whose minimum is greater than its maximum");
    this.#at += found[0].length;
    return { min, max };
  }

  #atom(): RegexNode {
    const char = this.#char as string;
    if (char === "*" || char === "+" || char === "?") throw this.#refuse(`"${char}" with nothing to repeat`);
    this.#at += 1;
    if (char === "(") return this.#group();
    if (char === "[") return this.#set();
    if (char === ".")
      return { kind: "char", test: this.#flags.dotAll ? () => true : (code) => code !== 10 && code !== 13 };
    const isEdge = (code: number | undefined) => code === undefined || (this.#flags.multiline && code === 10);
    if (char === "^") return { kind: "assert", test: (before) => isEdge(before) };
    if (char === "$") return { kind: "assert", test: (_, after) => isEdge(after) };
    if (char === "\\") return this.#escape();
    return this.#literal(char.codePointAt(0) as number);
  }

  #group(): RegexNode {
    if (this.#char === "?") {
      if (this.#chars[this.#at + 1] !== ":")
        throw this.#refuse('look-around, named groups or options ("(?…"), which are not supported,');
      this.#at += 2;
    }
    const inner = this.#choice();
    if (this.#char !== ")") throw this.#refuse('"(" without ")"');
    this.#at += 1;
    return inner;
  }

  #escape(): RegexNode {
    const char = this.#chars[this.#at];
    if (char === "b" || char === "B") {
      this.#at += 1;
      const isWord = (code: number | undefined) => code !== undefined && isWordChar(code);
      return { kind: "assert", test: (before, after) => (isWord(before) !== isWord(after)) === (char === "b") };
    }
    const test = this.#escapedClass();
    return test === undefined ? this.#literal(this.#escapedCode()) : { kind: "char", test };
  }

  #escapedClass(): CharTest | undefined {
    const char = this.#char ?? "";
    const test = Object.hasOwn(classes, char.toLowerCase()) ? classes[char.toLowerCase()] : undefined;
    if (test === undefined) return undefined;
    this.#at += 1;
    return char === char.toLowerCase() ? test : (code) => !test(code);
  }

  #escapedCode(): number {
    const char = this.#char;
    if (char === undefined) throw this.#refuse("a backslash at its end");
    if (/[0-9k]/.test(char)) throw this.#refuse("a back reference, which is not supported,");
    this.#at += 1;
    if (Object.hasOwn(controls, char)) return controls[char] as number;
    const digits = { x: 2, u: 4 }[char];
    if (digits !== undefined) {
      const hex = this.#chars.slice(this.#at, this.#at + digits).join("");
      if (!new RegExp(`^[0-9a-fA-F]{${digits}}$`).test(hex))
        throw this.#refuse(`\\${char} without ${digits} hexadecimal digits`);
      this.#at += digits;
      return Number.parseInt(hex, 16);
    }
    if (/[A-Za-z]/.test(char)) throw this.#refuse(`\\${char}, which is not supported,`);
    return char.codePointAt(0) as number;
  }

  #set(): RegexNode {
    const negated = this.#char === "^";
    if (negated) this.#at += 1;
    const tests: CharTest[] = [];
    for (let first = true; this.#char !== "]" || first; first = false) {
      if (this.#char === undefined) throw this.#refuse('"[" without "]"');
      tests.push(this.#setMember());
    }
    this.#at += 1;
    const test = (code: number): boolean => tests.some((member) => member(code));
    const folded: CharTest = this.#flags.ignoreCase
      ? (code) => test(code) || test(fold(code)) || test(raise(code))
      : test;
    return { kind: "char", test: negated ? (code) => !folded(code) : folded };
  }

  #setMember(): CharTest {
    const low = this.#setCode();
    if (typeof low !== "number") return low;
    if (this.#char !== "-" || this.#chars[this.#at + 1] === "]" || this.#chars[this.#at + 1] === undefined)
      return (code) => code === low;
    this.#at += 1;
    const high = this.#setCode();
    if (typeof high !== "number" || high < low) throw this.#refuse("an invalid character range");
    return (code) => code >= low && code <= high;
  }

  #setCode(): number | CharTest {
    const char = this.#char as string;
    this.#at += 1;
    if (char !== "\\") return char.codePointAt(0) as number;
    return this.#escapedClass() ?? this.#escapedCode();
  }

  #literal(code: number): RegexNode {
    if (!this.#flags.ignoreCase) return { kind: "char", test: (other) => other === code };
    const folded = fold(code);
    return { kind: "char", test: (other) => fold(other) === folded };
  }
}

function fold(code: number): number {
  const lower = String.fromCodePoint(code).toLowerCase();
  return Array.from(lower).length === 1 ? (lower.codePointAt(0) as number) : code;
}

function raise(code: number): number {
  const upper = String.fromCodePoint(code).toUpperCase();
  return Array.from(upper).length === 1 ? (upper.codePointAt(0) as number) : code;
}
