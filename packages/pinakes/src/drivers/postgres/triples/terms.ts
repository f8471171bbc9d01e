/** Terms and the names of sources as numbers of a space. */
import { hash } from "node:crypto";
import type { TermText } from "../../../domain/rdf.ts";
import type { Session } from "../connection.ts";
import { numberArray, rangeSql } from "./ranges.ts";
import type { TripleTables } from "./tables.ts";

/** No term has this number. It matches no row, at once. */
export const noTerm = -1;
/** Terms begin with "<", "_" or a quote. */
const sourceMark = "!";

export function sourceText(source: string): string {
  return `${sourceMark}${source}`;
}

export function sourceOf(text: string): string {
  return text.slice(sourceMark.length);
}

/** The hash of a text: 64 bits, signed as in PostgreSQL. The text itself is compared, too. */
export function hashOf(text: string): string {
  return hash("sha256", text, "buffer").readBigInt64BE(0).toString();
}

/** A term's number as an expression; `text` and `hash` are placeholders of values. */
export function termSql({ terms }: TripleTables, space: string, hashValue: string, text: string): string {
  return `coalesce((SELECT w.id FROM ${terms} w WHERE w.space = ${space} AND w.hash = ${hashValue}::bigint AND w.text = ${text}::text), ${noTerm})`;
}

/** The numbers of texts, `noTerm` if there is none. */
export async function findTerms(
  session: Session,
  tables: TripleTables,
  space: number,
  texts: readonly string[],
): Promise<number[]> {
  if (texts.length === 0) return [];
  const rows = await session.query<[number]>(
    `SELECT ${termSql(tables, "$1::bigint", "k.hash", "k.text")} FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS k (hash, text, place) ORDER BY place`,
    [space, `{${texts.map(hashOf).join(",")}}`, texts],
  );
  return rows.map(([id]) => id);
}

export interface Interned {
  /** In the order of the texts; `noTerm` for an absent one that was not to be created. */
  readonly ids: readonly number[];
  /** How many were created: terms, and all including the names of sources. */
  readonly terms: number;
  readonly made: number;
}

/** Numbers of texts, creating them where requested. The space's row is locked; the caller raises the space's counter by `made`. */
export async function internTerms(
  session: Session,
  tables: TripleTables,
  key: { readonly tenant: string; readonly space: string },
  texts: readonly string[],
  make: readonly boolean[],
): Promise<Interned> {
  if (texts.length === 0) return { ids: [], terms: 0, made: 0 };
  const rows = await session.query<[place: number, id: number | null, made: boolean]>(
    `WITH sp AS MATERIALIZED (SELECT id, next_term FROM ${tables.spaces} WHERE tenant = $1 AND name = $2 AND status = 'open'),
     k AS MATERIALIZED (
       SELECT k.*, (SELECT w.id FROM ${tables.terms} w WHERE w.space = sp.id AND w.hash = k.hash AND w.text = k.text) AS id, sp.id AS space, sp.next_term
       FROM sp CROSS JOIN unnest($3::bigint[], $4::text[], $5::boolean[]) WITH ORDINALITY AS k (hash, text, make, place)),
     n AS MATERIALIZED (
       SELECT *, id IS NULL AND make AS fresh, CASE WHEN id IS NOT NULL THEN id
         WHEN make THEN next_term - 1 + count(*) FILTER (WHERE id IS NULL AND make) OVER (ROWS UNBOUNDED PRECEDING) END AS number FROM k),
     made AS (INSERT INTO ${tables.terms} (space, id, hash, text) SELECT space, number, hash, text FROM n WHERE fresh)
     SELECT place, number, fresh FROM n`,
    [key.tenant, key.space, `{${texts.map(hashOf).join(",")}}`, texts, `{${make.join(",")}}`],
  );
  const ids = texts.map(() => noTerm);
  let terms = 0;
  let made = 0;
  for (const [place, id, fresh] of rows) {
    ids[place - 1] = id ?? noTerm;
    if (!fresh) continue;
    made += 1;
    if (!texts[place - 1]?.startsWith(sourceMark)) terms += 1;
  }
  return { ids, terms, made };
}

/** Removes those of these terms and sources that are unused now, and returns how many of them were terms. */
export async function sweepTerms(
  session: Session,
  tables: TripleTables,
  space: number,
  ids: Iterable<number>,
): Promise<number> {
  const list = numberArray(ids);
  if (list === "{}") return 0;
  const unused = (table: string, order: Parameters<typeof rangeSql>[0]["order"]) =>
    `(SELECT 1 ${rangeSql({ table, order, space: "$1::bigint", bound: ["k.id"] })} LIMIT 1) IS NULL`;
  const [row] = await session.query<[number]>(
    `WITH gone AS (
       DELETE FROM ${tables.terms} WHERE ctid = ANY (ARRAY (
         SELECT w.ctid FROM unnest($2::bigint[]) AS k (id) CROSS JOIN LATERAL (SELECT ctid FROM ${tables.terms} WHERE space = $1::bigint AND id = k.id OFFSET 0) w
         WHERE ${unused(tables.triples, ["s", "p", "o"])} AND ${unused(tables.triples, ["p", "o", "s"])} AND ${unused(tables.triples, ["o", "s", "p"])}
           AND ${unused(tables.quads, ["s", "p", "o", "g"])} AND ${unused(tables.quads, ["p", "o", "s", "g"])}
           AND ${unused(tables.quads, ["o", "s", "p", "g"])} AND ${unused(tables.quads, ["g", "s", "p", "o"])}
           AND ${unused(tables.supports, ["source", "s", "p", "o", "g", "part"])}
       )) RETURNING text)
     SELECT count(*) FILTER (WHERE text NOT LIKE '${sourceMark}%') FROM gone`,
    [space, list],
  );
  return row?.[0] ?? 0;
}

const cachedTermsMax = 50_000;
/** Bytes of a text: longer ones are read each time, so that memory is bounded. */
const cachedCharsMax = 300;
/** Each text may be long: this many at once bound the memory of a page. */
const idsPerReadMax = 2_000;

/** Texts by their numbers. What was read once stays valid, since numbers are not reused: only memory limits the cache. */
export class TermTexts {
  readonly #tables: TripleTables;
  readonly #known = new Map<string, TermText>();

  constructor(tables: TripleTables) {
    this.#tables = tables;
  }

  /** Without texts that were removed meanwhile. */
  async read(session: Session, space: number, ids: readonly number[]): Promise<Map<number, TermText>> {
    const texts = new Map<number, TermText>();
    const missing: number[] = [];
    for (const id of new Set(ids)) {
      const known = this.#known.get(`${space}.${id}`);
      if (known === undefined) missing.push(id);
      else texts.set(id, known);
    }
    if (missing.length === 0) return texts;
    const rows = await session.query<[number, TermText]>(
      `SELECT id, text FROM ${this.#tables.terms} WHERE space = $1::bigint AND id = ANY ($2::bigint[])`,
      [space, numberArray(missing)],
    );
    for (const [id, text] of rows) {
      texts.set(id, text);
      this.#keep(`${space}.${id}`, text);
    }
    return texts;
  }

  #keep(key: string, text: TermText): void {
    if (text.length > cachedCharsMax) return;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= cachedTermsMax && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, text);
  }
}

/** Chunks of rows whose texts are read together. */
export function piecesOf<T>(rows: readonly T[], idsOfEach: number): T[][] {
  const size = Math.floor(idsPerReadMax / idsOfEach);
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size));
}
