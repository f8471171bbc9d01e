/** Terms of spaces on the writer's connection: found, created, and removed when no quad uses them any more. */
import type { TermText } from "../../../domain/rdf.ts";
import { Generations } from "./generations.ts";
import { insertRows } from "./insert-rows.ts";
import { hashOf, placesOf, type Order } from "./schema.ts";
import type { SpaceRow } from "./space-row.ts";
import type { Statements } from "./statements.ts";

const cachedCharsMax = 67_108_864;
const entryChars = 80;

/** Every position of a term, each with the order that starts with it. */
const usedSql = `SELECT ${(["spo", "pos", "osp", "spog", "posg", "ospg", "gspo"] satisfies Order[])
  .map((order) => `EXISTS (SELECT 1 FROM ${order} WHERE space = ?1 AND ${placesOf(order)[0]} = ?2)`)
  .join(" OR ")}`;

export class TermWriter {
  readonly #statements: Statements;
  /** By space and text. Stale as soon as another process has written: the writer then clears it. */
  readonly #known = new Generations<string, number>(cachedCharsMax, (text) => text.length + entryChars);
  #space = 0;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The numbers of existing terms; 0 for others. */
  find(space: SpaceRow, terms: readonly TermText[]): Float64Array {
    this.#use(space);
    const ids = new Float64Array(terms.length);
    for (let i = 1; i < terms.length; i += 1) {
      const text = terms[i] as TermText;
      const known = this.#known.get(text);
      ids[i] = known ?? (space.terms === 0 ? 0 : this.#look(space.id, text));
    }
    return ids;
  }

  /** Assigns a number to each term in `wanted` (indexes) that has none. */
  make(space: SpaceRow, terms: readonly TermText[], ids: Float64Array, wanted: Uint32Array): void {
    const fresh: [number, number][] = [];
    const insert = this.#statements.get("INSERT INTO terms VALUES (?, ?, ?)");
    for (const place of wanted) {
      if (place === 0 || ids[place] !== 0) continue;
      const text = terms[place] as TermText;
      const id = space.nextTerm;
      space.nextTerm += 1;
      ids[place] = id;
      insert.run(space.id, id, text);
      fresh.push([hashOf(text), id]);
      this.#known.set(text, id);
    }
    space.terms += fresh.length;
    fresh.sort(([a], [b]) => a - b);
    insertRows(this.#statements, "term_hashes", 2, space.id, Float64Array.from(fresh.flat()));
  }

  /** Removes those of `candidates` that no quad uses any more. */
  drop(space: SpaceRow, candidates: Iterable<number>): void {
    for (const id of candidates) {
      if (id === 0 || this.#statements.first<[number]>(usedSql, space.id, id)?.[0] === 1) continue;
      this.remove(space, id);
    }
  }

  remove(space: SpaceRow, id: number): void {
    const row = this.#statements.first<[TermText]>("SELECT text FROM terms WHERE space = ? AND id = ?", space.id, id);
    if (row === undefined) return;
    const [text] = row;
    this.#statements.run("DELETE FROM terms WHERE space = ? AND id = ?", space.id, id);
    this.#statements.run("DELETE FROM term_hashes WHERE space = ? AND hash = ? AND id = ?", space.id, hashOf(text), id);
    this.#use(space);
    this.#known.delete(text);
    space.terms -= 1;
  }

  forget(): void {
    this.#known.clear();
  }

  #look(space: number, text: TermText): number {
    for (const [id] of this.#statements.all<[number]>(
      "SELECT id FROM term_hashes WHERE space = ? AND hash = ?",
      space,
      hashOf(text),
    )) {
      const row = this.#statements.first<[TermText]>("SELECT text FROM terms WHERE space = ? AND id = ?", space, id);
      if (row?.[0] !== text) continue;
      this.#known.set(text, id);
      return id;
    }
    return 0;
  }

  /** Caches one space at a time: a load writes many batches to the same one. */
  #use(space: SpaceRow): void {
    if (this.#space === space.id) return;
    this.#space = space.id;
    this.#known.clear();
  }
}
