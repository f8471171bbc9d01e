/**
 * The stamps of a day (RFC 0006): they change in the same commit as its rows, so an unchanged stamp proves unchanged
 * rows. Two items of the day's partition:
 *
 * - `~stamp` counts the rows added by ingestion, per hour; `life` is new whenever it is created, so no two stamps are ever equal by
 *   chance, even after the partition was deleted and refilled.
 * - `~stamp-changes` is written by all other writers of rows (the containers API: create, replace, patch, delete). Its etag,
 *   which never repeats, is the stamp; `touched` means that the counts of `~stamp` are no longer exact.
 *
 * Invariant: every row has `~stamp-changes`; every row written by ingestion has `~stamp`. So a patch of an existing
 * row can be accompanied by a patch, and a create by an upsert, without reading first.
 */
import { hash, randomUUID } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { succeeds } from "../../runtime/expected-errors.ts";
import type { ItemStore, Operation } from "../../ports/item-store.ts";
import { companionField } from "../system-container.ts";
import type { Series } from "./series.ts";
import { hourText } from "./time.ts";

const stampId = "~stamp";
const changesId = "~stamp-changes";
/** Also of `~chain`: companions live as long as their day. */
export const companionFields = (what: string): JsonObject => ({ [companionField]: what, ttl: -1 });

export interface DayStamps {
  /** Rows added by ingestion, per hour; they may have expired since. */
  readonly added: (hour: number) => number;
  /** Rows were also changed in another way. */
  readonly touched: boolean;
  /** Changes whenever the rows of this hour do, and never repeats. */
  readonly of: (hour: number) => string;
}

/** Undefined: the day has no rows. */
export async function readStamps(
  items: ItemStore,
  scope: Scope,
  series: Series,
  date: string,
): Promise<DayStamps | undefined> {
  const keys = [stampId, changesId].map((id) => ({ partition: [date], id }));
  const [stamp, changes] = await items.readMany(scope, series.container, keys);
  if (stamp === undefined && changes === undefined) return undefined;
  const hours = (stamp?.document["hours"] ?? {}) as Readonly<Record<string, number>>;
  const added = (hour: number): number => hours[hourText(hour)] ?? 0;
  const { seconds, changes: ttlChanges } = items.defaultTtl(scope, series.container);
  return {
    added,
    touched: changes?.document["touched"] === true,
    // The time to live decides which rows a scan saw; a day with a longer retention gets new blocks.
    of: (hour) =>
      hash(
        "sha256",
        JSON.stringify([
          stamp?.document["life"] ?? null,
          added(hour),
          changes?.etag ?? null,
          seconds,
          ...(ttlChanges === 0 ? [] : [ttlChanges]),
        ]),
        "base64url",
      ).slice(0, 32),
  };
}

/** The operation for a batch that adds rows of these hours; at most ten different ones. */
export function stampPatch(hours: readonly number[]): Operation {
  const counts = new Map<number, number>();
  for (const hour of hours) counts.set(hour, (counts.get(hour) ?? 0) + 1);
  return {
    op: "patch",
    id: stampId,
    patch: [...counts].map(([hour, value]) => ({ op: "incr", path: `/hours/${hourText(hour)}`, value })),
  };
}

/** For the first rows of a day. Concurrent writers create the same items. */
export async function makeStamps(items: ItemStore, scope: Scope, series: Series, date: string): Promise<void> {
  const day = { [series.dateField]: date, ...companionFields("stamp") };
  const stamp: Operation = { op: "create", document: { id: stampId, ...day, life: randomUUID(), hours: {} } };
  const changes: Operation = { op: "create", document: { id: changesId, ...day, touched: false } };
  // The containers API may have created one of the two before.
  for (const operations of [[stamp, changes], [stamp]]) {
    if (await succeeds(items.batch(scope, series.container, [date], operations), "CONFLICT")) return;
  }
}

/** The operation for writes of others than ingestion. */
export function stampCompanions(series: Series, operations: readonly Operation[]): readonly Operation[] {
  for (const operation of operations) {
    if (operation.op !== "create" && operation.op !== "upsert") continue;
    const date = operation.document[series.dateField];
    if (date === undefined) continue;
    return [
      {
        op: "upsert",
        document: { id: changesId, [series.dateField]: date, ...companionFields("stamp"), touched: true },
      },
    ];
  }
  const changes = operations.some(({ op }) => op === "replace" || op === "patch" || op === "delete");
  return changes ? [{ op: "patch", id: changesId, patch: [{ op: "set", path: "/touched", value: true }] }] : [];
}
