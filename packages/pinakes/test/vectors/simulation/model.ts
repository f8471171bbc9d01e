/** The expected content of a collection, in the simplest form: the last write of an id by seq wins, deletes are remembered for ever. */
import type { JsonObject } from "../../../src/domain/json.ts";
import type { Row } from "../../../src/vectors/row.ts";
import type { View } from "../../../src/vectors/read/view.ts";

interface Entry {
  readonly seq: number;
  /** Undefined: deleted. */
  readonly row: Row | undefined;
}

export type Model = ReadonlyMap<string, Entry>;

export const emptyModel: Model = new Map();

/** A write after a newer one (a dead delta that is retried) changes nothing. */
export function applied(model: Model, seq: number, rows: readonly Row[]): Model {
  const next = new Map(model);
  for (const row of rows) {
    const before = next.get(row.id);
    if (before !== undefined && before.seq > seq) continue;
    if (row.op === "put") next.set(row.id, { seq, row });
    else if (row.op === "delete") next.set(row.id, { seq, row: undefined });
    else if (before?.row !== undefined)
      next.set(row.id, {
        seq,
        row: { ...before.row, metadata: patched(before.row.metadata ?? {}, row.metadata ?? {}) },
      });
  }
  return next;
}

function patched(metadata: JsonObject, patch: JsonObject): JsonObject {
  const next: Record<string, JsonObject[string]> = { ...metadata };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else next[key] = value;
  }
  return next;
}

export function liveOf(model: Model): number {
  let live = 0;
  for (const { row } of model.values()) if (row !== undefined) live += 1;
  return live;
}

/** Sorted, so that equal contents are equal texts. */
export function modelText(model: Model): string {
  return [...model.values()]
    .flatMap(({ row }) => (row === undefined ? [] : [rowText(row.id, row.vector, row.metadata)]))
    .sort()
    .join("\n");
}

export function viewText(view: View): string {
  const lines: string[] = [];
  for (const { rows, dead } of view.sources) {
    for (let row = 0; row < rows.rows; row += 1) {
      if (!(dead?.has(row) ?? false)) lines.push(rowText(rows.id(row), rows.vector(row), rows.metadata(row)));
    }
  }
  return lines.sort().join("\n");
}

function rowText(id: string, vector: Float32Array | undefined, metadata: JsonObject | undefined): string {
  const keys = Object.entries(metadata ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${id} [${[...(vector ?? [])].join(" ")}] ${JSON.stringify(keys)}`;
}
