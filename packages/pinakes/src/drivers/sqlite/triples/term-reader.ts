/** Terms of spaces by their numbers and the other way round, inside a transaction of the caller. */
import { invariant } from "../../../domain/invariant.ts";
import type { TermText } from "../../../domain/rdf.ts";
import { Generations } from "./generations.ts";
import { hashOf } from "./schema.ts";
import type { Statements } from "./statements.ts";

/** Of texts that are kept in memory, and what an entry costs besides. */
const cachedCharsMax = 33_554_432;
const entryChars = 64;
/** Numbers of terms lie below this in every space, so that one number names a term of any space. */
const termsMax = 2 ** 32;
/** Whatever follows fits beside it into the numbers that JavaScript has. */
export const spacesMax = 2 ** 20;

export class TermReader {
  readonly #statements: Statements;
  /** Never wrong: a number is never given to another text. */
  readonly #texts = new Generations<number, TermText>(cachedCharsMax, (_, text) => text.length + entryChars);

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  text(space: number, id: number): TermText {
    const key = space * termsMax + id;
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const row = this.#statements.first<[TermText]>("SELECT text FROM terms WHERE space = ? AND id = ?", space, id);
    invariant(row !== undefined, "CORRUPT", `term ${id} of space ${space} has no text`);
    this.#texts.set(key, row[0]);
    return row[0];
  }

  /** Undefined for a text that no quad of the space uses. */
  find(space: number, text: TermText): number | undefined {
    for (const [id] of this.#statements.all<[number]>(
      "SELECT id FROM term_hashes WHERE space = ? AND hash = ?",
      space,
      hashOf(text),
    ))
      if (this.text(space, id) === text) return id;
    return undefined;
  }
}
