/** Maps terms of spaces to numbers and back, inside the caller's transaction. */
import { invariant } from "../../../domain/invariant.ts";
import type { TermText } from "../../../domain/rdf.ts";
import { Generations } from "./generations.ts";
import { hashOf } from "./schema.ts";
import type { Statements } from "./statements.ts";

/** Bytes of cached texts, and the overhead per entry. */
const cachedCharsMax = 33_554_432;
const entryChars = 64;
/** Term numbers are below this in every space, so that one number identifies a term of any space. */
const termsMax = 2 ** 32;
/** A space number and a term number fit into one safe integer. */
export const spacesMax = 2 ** 20;

export class TermReader {
  readonly #statements: Statements;
  /** Never stale: numbers are not reused. */
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
