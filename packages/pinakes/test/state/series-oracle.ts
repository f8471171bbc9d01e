/** What aggregates must be, computed from plain rows in the plainest way. */
import type { Aggregate, AggregateQuery, AggregateRow } from "@pinakes/client";

export interface OracleRow {
  readonly at: number;
  readonly value: number;
  readonly group: Readonly<Record<string, string | null>>;
  /** Epoch milliseconds; null: never. */
  readonly expires: number | null;
}

export interface OracleQuery extends Pick<AggregateQuery, "aggregates"> {
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number | undefined;
  readonly group_by: readonly string[];
  readonly filter: Readonly<Record<string, string | null>>;
}

export function oracle(rows: readonly OracleRow[], query: OracleQuery, now: number): readonly AggregateRow[] {
  const cells = new Map<string, number[]>();
  for (const { at, value, group, expires } of rows) {
    if (at < query.from || at >= query.to || (expires !== null && expires <= now)) continue;
    if (Object.entries(query.filter).some(([name, wanted]) => group[name] !== wanted)) continue;
    const bucket =
      query.bucketMs === undefined ? null : new Date(Math.floor(at / query.bucketMs) * query.bucketMs).toISOString();
    const key = JSON.stringify([bucket, ...query.group_by.map((name) => group[name])]);
    cells.set(key, [...(cells.get(key) ?? []), value]);
  }
  const made = [...cells].map(([key, values]) => {
    const [bucket, ...group] = JSON.parse(key) as (string | null)[];
    return {
      bucket: bucket ?? null,
      group: Object.fromEntries(query.group_by.map((name, i) => [name, group[i] ?? null])),
      values: valuesOf(values, query.aggregates),
    };
  });
  const place = ({ bucket, group }: AggregateRow) => [
    bucket ?? "",
    ...query.group_by.map((name) => (typeof group[name] === "string" ? `=${group[name]}` : "")),
  ];
  return made.toSorted((a, b) => {
    const [left, right] = [place(a), place(b)];
    const at = left.findIndex((part, i) => part !== right[i]);
    return at < 0 ? 0 : (left[at] as string) < (right[at] as string) ? -1 : 1;
  });
}

function valuesOf(values: readonly number[], names: readonly Aggregate[]): Partial<Record<Aggregate, number>> {
  const sorted = values.toSorted((a, b) => a - b);
  const sum = values.reduce((total, value) => total + value, 0);
  const rank = (percent: number) => sorted[Math.ceil((percent / 100) * sorted.length - 1e-9) - 1] as number;
  const all = {
    count: values.length,
    sum,
    avg: sum / values.length,
    min: sorted[0],
    max: sorted.at(-1),
    p50: rank(50),
    p95: rank(95),
    p99: rank(99),
  };
  return Object.fromEntries(names.map((name) => [name, all[name] as number]));
}

/** Sums and averages within 1e-9 of the greatest magnitude they are made of; everything else exactly. */
export function sameRows(
  got: readonly AggregateRow[],
  wanted: readonly AggregateRow[],
  magnitude: number,
): string | undefined {
  if (got.length !== wanted.length) return `${got.length} rows instead of ${wanted.length}`;
  for (const [i, row] of got.entries()) {
    const want = wanted[i] as AggregateRow;
    if (row.bucket !== want.bucket || JSON.stringify(row.group) !== JSON.stringify(want.group))
      return `row ${i} is ${JSON.stringify(row)} instead of ${JSON.stringify(want)}`;
    if (Object.keys(row.values).join() !== Object.keys(want.values).join())
      return `row ${i} has ${Object.keys(row.values).join()}`;
    for (const name of Object.keys(want.values) as Aggregate[]) {
      const [value, expected] = [row.values[name] as number, want.values[name] as number];
      const close =
        name === "sum" || name === "avg" ? Math.abs(value - expected) <= 1e-9 * magnitude : value === expected;
      if (!close) return `row ${i}: ${name} is ${value} instead of ${expected}`;
    }
  }
  return undefined;
}
