/** Whole queries with their right answers. Where an answer is not the only right one (ties, LIMIT without ORDER BY), it is judged. */
import fc from "fast-check";
import { expect } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import { anyProperty, filter as anyFilter, order, orderKeys, text, type Condition, type Value } from "./oracle.ts";

export interface Case {
  readonly query: string;
  readonly judge: (answer: readonly JsonValue[], documents: readonly JsonObject[]) => void;
}

const where = fc.option(anyFilter, { nil: undefined, freq: 6 });
const clause = (filter: Condition | undefined) => (filter === undefined ? "" : ` WHERE ${filter.text}`);
const matching = (documents: readonly JsonObject[], filter: Condition | undefined) =>
  documents.filter((document) => filter === undefined || filter.of(document) === true);
const bag = (values: readonly JsonValue[]) => values.map(text).toSorted();
const defined = (entries: readonly (readonly [string, Value])[]) =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined));

const plain = where.map((filter): Case => ({
  query: `SELECT * FROM c${clause(filter)}`,
  judge: (answer, documents) => expect(bag(answer)).toEqual(bag(matching(documents, filter))),
}));

const ordered = fc
  .tuple(where, orderKeys, fc.option(fc.tuple(fc.nat(4), fc.nat(6)), { nil: undefined }))
  .map(([filter, keys, limits]): Case => {
    const by = keys.map(({ property, descending }) => `${property.text}${descending ? " DESC" : ""}`).join(", ");
    const keysOf = (document: JsonObject) => keys.map(({ property }) => property.of(document));
    const compare = (a: JsonObject, b: JsonObject) => {
      for (const { property, descending } of keys) {
        const sign = order(property.of(a), property.of(b));
        if (sign !== 0) return descending ? -sign : sign;
      }
      return 0;
    };
    const rank = (value: Value) =>
      typeof value === "object" && value !== null ? (Array.isArray(value) ? "array" : "object") : text(value);
    return {
      query: `SELECT VALUE c.id FROM c${clause(filter)} ORDER BY ${by}${limits === undefined ? "" : ` OFFSET ${limits[0]} LIMIT ${limits[1]}`}`,
      judge: (answer, documents) => {
        const all = matching(documents, filter).toSorted(compare);
        const expected = limits === undefined ? all : all.slice(limits[0], limits[0] + limits[1]);
        const byId = new Map(all.map((document) => [document["id"], document]));
        expect(new Set(answer).size).toBe(answer.length);
        const shown = answer.map((id) => byId.get(id) as JsonObject);
        expect(shown.map((document) => keysOf(document).map(rank))).toEqual(
          expected.map((document) => keysOf(document).map(rank)),
        );
      },
    };
  });

const first = fc.tuple(where, fc.nat(6)).map(([filter, count]): Case => ({
  query: `SELECT TOP ${count} VALUE c.id FROM c${clause(filter)}`,
  judge: (answer, documents) => {
    const all = matching(documents, filter).map(({ id }) => id);
    expect(answer).toHaveLength(Math.min(count, all.length));
    expect(new Set(answer).size).toBe(answer.length);
    for (const id of answer) expect(all).toContain(id);
  },
}));

const joined = fc.tuple(where, fc.boolean()).map(([filter, some]): Case => ({
  query: `SELECT c.id, t AS tag FROM c JOIN t IN c.tags${clause(filter)}${some ? `${filter === undefined ? " WHERE" : " AND"} t = 1` : ""}`,
  judge: (answer, documents) => {
    const rows = matching(documents, filter).flatMap((document) =>
      ((document["tags"] ?? []) as readonly JsonValue[]).map((tag) => ({ id: document["id"], tag })),
    );
    expect(bag(answer)).toEqual(bag(rows.filter(({ tag }) => !some || tag === 1) as unknown as JsonValue[]));
  },
}));

function totals(rows: readonly JsonObject[]): readonly (readonly [string, Value])[] {
  const numbers = rows.map((row) => row["q"]).filter((value) => value !== undefined);
  const sum = numbers.every((value) => typeof value === "number")
    ? numbers.reduce<number>((total, value) => total + value, 0)
    : undefined;
  const extreme = numbers.toSorted(order);
  return [
    ["a", rows.length],
    ["b", numbers.length],
    ["s", sum],
    ["v", sum === undefined || numbers.length === 0 ? undefined : sum / numbers.length],
    ["l", extreme[0]],
    ["h", extreme.at(-1)],
  ];
}

const sums = "COUNT(1) AS a, COUNT(c.q) AS b, SUM(c.q) AS s, AVG(c.q) AS v, MIN(c.q) AS l, MAX(c.q) AS h";

const aggregated = where.map((filter): Case => ({
  query: `SELECT ${sums} FROM c${clause(filter)}`,
  judge: (answer, documents) => expect(bag(answer)).toEqual(bag([defined(totals(matching(documents, filter)))])),
}));

const counted = where.map((filter): Case => ({
  query: `SELECT VALUE COUNT(1) FROM c${clause(filter)}`,
  judge: (answer, documents) => expect(answer).toEqual([matching(documents, filter).length]),
}));

const groups = fc.tuple(where, anyProperty).map(([filter, property]): Case => ({
  query: `SELECT ${property.text} AS k, ${sums} FROM c${clause(filter)} GROUP BY ${property.text}`,
  judge: (answer, documents) => {
    const found = Map.groupBy(matching(documents, filter), (document) => text(property.of(document)));
    expect(bag(answer)).toEqual(
      bag([...found.values()].map((rows) => defined([["k", property.of(rows[0] as JsonObject)], ...totals(rows)]))),
    );
  },
}));

const different = fc.tuple(where, anyProperty).map(([filter, property]): Case => ({
  query: `SELECT DISTINCT VALUE ${property.text} FROM c${clause(filter)}`,
  judge: (answer, documents) => {
    const values = matching(documents, filter).map((document) => property.of(document));
    expect(bag(answer)).toEqual([...new Set(values.filter((value) => value !== undefined).map(text))].toSorted());
  },
}));

export const cases: fc.Arbitrary<Case> = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 5, arbitrary: ordered },
  { weight: 1, arbitrary: first },
  { weight: 2, arbitrary: joined },
  { weight: 1, arbitrary: aggregated },
  { weight: 1, arbitrary: counted },
  { weight: 2, arbitrary: groups },
  { weight: 1, arbitrary: different },
);
