/** The counts of an erasure per store, over workspaces and attempts. Pure. */
import { PinakesError } from "../../domain/errors.ts";
import type { ErasureRecord, StoreCounts } from "./records.ts";

interface Counted {
  readonly counts: ReadonlyMap<string, StoreCounts>;
  readonly holds: ReadonlySet<string>;
}

export function emptyCounts(store: string): StoreCounts {
  return { store, found: 0, deleted: 0, redacted: 0, anonymised: 0, held: 0, remaining: null };
}

export function summed(runs: readonly Counted[]): { stores: ErasureRecord["stores"]; holds: string[] } {
  const stores = new Map<string, ErasureRecord["stores"][number]>();
  for (const one of runs.flatMap((run) => [...run.counts.values()])) {
    const known = stores.get(one.store) ?? emptyCounts(one.store);
    stores.set(one.store, {
      store: one.store,
      found: known.found + one.found,
      deleted: known.deleted + one.deleted,
      redacted: known.redacted + one.redacted,
      anonymised: known.anonymised + one.anonymised,
      held: known.held + one.held,
      remaining: one.remaining === null ? known.remaining : (known.remaining ?? 0) + one.remaining,
    });
  }
  return { stores: [...stores.values()], holds: [...new Set(runs.flatMap((run) => [...run.holds]))] };
}

/** The first attempt's total is kept: a later one only finds what was left. */
export function mergedFound(
  record: ErasureRecord,
  { stores, holds }: Pick<ErasureRecord, "stores" | "holds">,
): Partial<ErasureRecord> {
  const known = new Map(record.stores.map((one) => [one.store, one]));
  const merged = stores.map((one) => ({ ...(known.get(one.store) ?? one), held: one.held }));
  const rest = record.stores.filter(({ store }) => !stores.some((one) => one.store === store));
  return { stores: [...merged, ...rest], holds: [...holds] };
}

/** Includes removals of earlier attempts. */
export function mergedDone(before: ErasureRecord["stores"], now: ErasureRecord["stores"]): ErasureRecord["stores"] {
  const names = new Set([...before, ...now].map(({ store }) => store));
  return [...names].map((store) => {
    const [earlier, latest] = [before, now].map(
      (list) => list.find((one) => one.store === store) ?? emptyCounts(store),
    ) as [ErasureRecord["stores"][number], ErasureRecord["stores"][number]];
    return {
      store,
      found: earlier.found,
      deleted: earlier.deleted + latest.deleted,
      redacted: earlier.redacted + latest.redacted,
      anonymised: earlier.anonymised + latest.anonymised,
      held: latest.held,
      remaining: latest.remaining ?? 0,
    };
  });
}

/** Nothing in a run may end silently half done. */
export function remainsError(remaining: number, counts: ReadonlyMap<string, StoreCounts>): PinakesError {
  const where = [...counts.values()].filter(({ remaining: left }) => (left ?? 0) > 0);
  const text = where.map(({ store, remaining: left }) => `${store} ${left}`).join(", ");
  return new PinakesError(
    "UNAVAILABLE",
    `${remaining} rows or files still name the subject (${text}); it is tried again.`,
  );
}
