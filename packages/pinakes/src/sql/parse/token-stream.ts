/** The tokens of a query, read once from left to right, and the aliases in scope at the current position. */
import type { PinakesError } from "../../domain/errors.ts";
import { foreignAt, isForeignWord } from "./foreign-words.ts";
import { sqlLimits } from "../limits.ts";
import { syntaxError, tokenize, unsupported, type Token } from "./tokens.ts";

/** Words that cannot be an alias. After a dot they are ordinary names. */
const keywords = new Set(
  "SELECT TOP DISTINCT VALUE FROM AS JOIN IN WHERE GROUP BY ORDER ASC DESC OFFSET LIMIT AND OR NOT BETWEEN LIKE ESCAPE EXISTS ARRAY TRUE FALSE NULL UNDEFINED".split(
    " ",
  ),
);

/** Alias of the document if FROM is a subquery; a query cannot contain it. */
export const hiddenAlias = "";

export class TokenStream {
  readonly text: string;
  readonly #tokens: readonly Token[];
  readonly #aliases: string[] = [];
  /** Slots are never reused, not even after a subquery has ended. */
  readonly #slots: number[] = [];
  #nextSlot = 0;
  #scopeStart = 0;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.text = text;
    this.#tokens = tokenize(text);
  }

  get token(): Token {
    return this.#tokens[this.#at] as Token;
  }

  peek(distance = 1): Token {
    return this.#tokens[Math.min(this.#at + distance, this.#tokens.length - 1)] as Token;
  }

  take(): Token {
    const token = this.token;
    if (token.kind !== "end") this.#at += 1;
    return token;
  }

  isKeyword(word: string, token = this.token): boolean {
    return token.kind === "name" && token.text.toUpperCase() === word;
  }

  isSymbol(symbol: string, token = this.token): boolean {
    return token.kind === "symbol" && token.text === symbol;
  }

  takeKeyword(word: string): boolean {
    if (!this.isKeyword(word)) return false;
    this.take();
    return true;
  }

  takeSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.take();
    return true;
  }

  expectKeyword(word: string): void {
    if (!this.takeKeyword(word)) throw this.expected(word);
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.expected(`"${symbol}"`);
  }

  /** A name that is not a keyword. */
  isName(token = this.token): boolean {
    return token.kind === "name" && !keywords.has(token.text.toUpperCase());
  }

  expectName(what: string): string {
    if (!this.isName()) throw this.expected(what);
    return this.take().text;
  }

  /** An optional name: not a keyword that another dialect would have here. */
  isAlias(): boolean {
    return this.isName() && !isForeignWord(this.token);
  }

  expected(what: string): PinakesError {
    const { kind, text } = this.token;
    const foreign = foreignAt(this.token, this.#tokens[this.#at - 1]);
    if (foreign !== undefined) return this.unsupported(this.token.at, foreign.what, foreign.instead);
    const got =
      kind === "end"
        ? "the query ended"
        : `got ${kind === "parameter" ? `@${text}` : JSON.stringify(text.slice(0, 60))}`;
    return syntaxError(this.text, this.token.at, `expected ${what}, ${got}`);
  }

  error(at: number, detail: string): PinakesError {
    return syntaxError(this.text, at, detail);
  }

  unsupported(at: number, what: string, instead?: string): PinakesError {
    return unsupported(this.text, at, what, instead);
  }

  /** Bounds the depth of what is later evaluated by recursion. */
  nested<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > sqlLimits.depthMax)
      throw this.error(this.token.at, `nested deeper than ${sqlLimits.depthMax} levels; reduce the nesting`);
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  requireCount(count: number, max: number, what: string): void {
    if (count > max)
      throw this.error(this.token.at, `more than ${max} ${what}; use fewer, or pass a list as a parameter`);
  }

  /** Comma-separated items. */
  list<T>(parse: () => T, max: number, what: string): T[] {
    const items: T[] = [];
    do {
      this.requireCount(items.length + 1, max, what);
      items.push(parse());
    } while (this.takeSymbol(","));
    return items;
  }

  declare(alias: string, at: number): number {
    // A subquery may reuse an alias of the enclosing query.
    if (this.#aliases.indexOf(alias, this.#scopeStart) >= 0)
      throw this.error(at, `the alias "${alias}" is already taken; choose another`);
    this.#aliases.push(alias);
    this.#slots.push(this.#nextSlot);
    this.#nextSlot += 1;
    return this.#nextSlot - 1;
  }

  slotOf(alias: string, at: number): number {
    const place = this.#aliases.lastIndexOf(alias);
    if (place >= 0) return this.#slots[place] as number;
    const [first] = this.#aliases.filter((name) => name !== hiddenAlias);
    const known = this.#aliases
      .filter((name) => name !== hiddenAlias)
      .map((name) => `"${name}"`)
      .join(", ");
    throw this.error(
      at,
      `"${alias}" is not an alias of this query (known: ${known}); qualify properties with one: ${first ?? "c"}.${alias}`,
    );
  }

  /** Another alias for the document, inside a subquery in FROM. */
  declareDocument(alias: string): void {
    this.#aliases.push(alias);
    this.#slots.push(0);
  }

  /** Aliases declared by a subquery end with it. */
  scoped<T>(parse: () => T): T {
    const [count, outer] = [this.#aliases.length, this.#scopeStart];
    this.#scopeStart = count;
    const result = parse();
    this.#scopeStart = outer;
    this.#aliases.length = count;
    this.#slots.length = count;
    return result;
  }

  /** SELECT comes before FROM, which declares its aliases: FROM is parsed first, then the position is reset. */
  mark(): number {
    return this.#at;
  }

  back(mark: number): void {
    this.#at = mark;
  }
}
