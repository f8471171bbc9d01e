/** Quads as columns of numbers, each quad once: the parameters of statements for many rows. */
import { noTerm } from "./terms.ts";
import { numberArray } from "./ranges.ts";

export class QuadColumns {
  readonly s: number[] = [];
  readonly p: number[] = [];
  readonly o: number[] = [];
  /** 0: the default graph. */
  readonly g: number[] = [];

  /** Four elements of `numbers` for each quad. One with an unknown term cannot be stored either, and is left out. */
  static of(places: Uint32Array, numbers: readonly number[]): QuadColumns {
    const columns = new QuadColumns();
    const seen = new Set<string>();
    for (let i = 0; i < places.length; i += 4) {
      const [s, p, o, g] = [0, 1, 2, 3].map((offset) => numbers[places[i + offset] as number] as number) as [
        number,
        number,
        number,
        number,
      ];
      if (s === noTerm || p === noTerm || o === noTerm || g === noTerm) continue;
      const key = `${s}.${p}.${o}.${g}`;
      if (seen.has(key)) continue;
      seen.add(key);
      columns.add(s, p, o, g);
    }
    return columns;
  }

  /** In the form returned by PostgreSQL; each may occur several times. */
  static ofRows(rows: readonly (readonly [s: number, p: number, o: number, g: number])[]): QuadColumns {
    const columns = new QuadColumns();
    const distinct = new Map(rows.map((row) => [row.join("."), row]));
    for (const row of distinct.values()) columns.add(...row);
    return columns;
  }

  get length(): number {
    return this.s.length;
  }

  add(s: number, p: number, o: number, g: number): void {
    this.s.push(s);
    this.p.push(p);
    this.o.push(o);
    this.g.push(g);
  }

  /** Quads of the default graph, and of named graphs: they are in two tables. */
  split(): { readonly triples: QuadColumns; readonly quads: QuadColumns } {
    const [triples, quads] = [new QuadColumns(), new QuadColumns()];
    this.g.forEach((g, i) =>
      (g === 0 ? triples : quads).add(this.s[i] as number, this.p[i] as number, this.o[i] as number, g),
    );
    return { triples, quads };
  }

  /** For `unnest($n::bigint[], …) AS k (s, p, o, g)`. */
  arrays(): [s: string, p: string, o: string, g: string] {
    return [numberArray(this.s), numberArray(this.p), numberArray(this.o), numberArray(this.g)];
  }

  /** The numbers of all terms. */
  ids(): Set<number> {
    const ids = new Set([...this.s, ...this.p, ...this.o, ...this.g]);
    ids.delete(0);
    return ids;
  }
}
