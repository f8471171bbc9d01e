/** Formats operations as text. */
import type { OperationView } from "../../knowledge/index.ts";
import { fields, grid, inTime, oneLine } from "../terminal/layout.ts";
import type { Terminal } from "../terminal/terminal.ts";

export function operationRow({
  operation_id,
  action,
  repository_id,
  collection_id,
  status,
  partial,
  stores,
  updated_at,
}: OperationView) {
  const done = stores.filter((store) => store.status === "confirmed").length;
  return {
    operation: operation_id,
    action,
    of: `${repository_id}/${collection_id}`,
    status: partial ? `${status}, partial` : status,
    stores: `${done}/${stores.length}`,
    updated: inTime(updated_at),
  };
}

export function operationsText(terminal: Terminal, operations: readonly OperationView[]): string {
  return operations.map((operation) => oneText(terminal, operation)).join("\n\n");
}

function oneText(terminal: Terminal, operation: OperationView): string {
  const { incarnation, created_by, created_at, finished_at } = operation;
  const { stores: _, ...row } = operationRow(operation);
  const head = fields(terminal, {
    ...row,
    life: incarnation,
    created: `${inTime(created_at)} by ${created_by}`,
    finished: finished_at === null ? undefined : inTime(finished_at),
  });
  const rows = operation.stores.map(
    ({ store, status, deleted, remaining, unit, duration_ms, attempts, error, next_at }) => ({
      store,
      status,
      deleted,
      // Not counted yet: a zero would mean that nothing remains.
      remaining: remaining ?? "–",
      unit,
      ms: Math.round(duration_ms),
      attempts,
      "next try": next_at === null ? "" : inTime(next_at),
      error: error === null ? "" : oneLine(error.message),
    }),
  );
  return `${head}\n\n${grid(terminal, rows, { whole: ["store", "unit"] })}`;
}
