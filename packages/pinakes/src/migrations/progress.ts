/** Reports the progress of a unit, which also renews the lease: after a number of rows, or after a while. */
import { migrationLimits } from "./limits.ts";
import type { MigrationRecord, UnitRecord } from "./records.ts";
import type { Progress } from "./source.ts";
import type { Work } from "./worker.ts";

const rowsPerTell = 5_000;

export function progressOf(
  { name, number, count }: Pick<UnitRecord, "name" | "number" | "count">,
  done: number,
): NonNullable<MigrationRecord["progress"]> {
  return { unit: name, unit_number: number, done, total: count };
}

/** Rows may be counted from the first again, since both sides of a unit are read one after the other. */
export function telling({ deps, tell }: Work, unit: Pick<UnitRecord, "name" | "number" | "count">): Progress {
  let last = { rows: 0, at: deps.clock.now() };
  return (rows = last.rows) => {
    const at = deps.clock.now();
    if (rows < last.rows) last = { rows: 0, at: last.at };
    if (rows - last.rows < rowsPerTell && at - last.at < migrationLimits.beatMs) return undefined;
    last = { rows, at };
    return tell(progressOf(unit, rows));
  };
}

/** Passes rows through, reporting progress. */
export async function* reporting<Row>(rows: AsyncIterable<Row>, progress: Progress | undefined): AsyncGenerator<Row> {
  let count = 0;
  for await (const row of rows) {
    yield row;
    const waiting = progress?.((count += 1));
    if (waiting !== undefined) await waiting;
  }
}
