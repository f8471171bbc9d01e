/**
 * Unique values as separate items, beside the items that hold them.
 *
 * Invariant: the item of a value names the row that has the value, and exists as long as that row does: both change in one transaction. So
 * a write conditioned on a row's etag also covers the values the row had.
 */
import type { CompiledContainer } from "../../items/compiled-container.ts";
import type { PlannedWrite } from "../../items/plan-batch.ts";
import type { UniqueClaim } from "../../items/unique-keys.ts";
import type { Action } from "./actions.ts";
import { keyText, toKey, type Dynamo } from "./client.ts";
import { decodeRow, rowKey, uniqueKey, type Row } from "./rows.ts";

/** The idKey of the row that holds each claimed value, if not the claimant; aligned with the claims. */
export type Holders = readonly (string | undefined)[];

/** Undefined if the state read is inconsistent because of another writer: plan again. */
export async function findHolders(
  dynamo: Dynamo,
  table: string,
  container: CompiledContainer,
  pk: string,
  claims: readonly UniqueClaim[],
  rows: Map<string, Row>,
): Promise<Holders | undefined> {
  const kept = (claim: UniqueClaim) => rows.get(claim.idKey)?.uniques[claim.key] === claim.value;
  const keyOfClaim = ({ key, value }: UniqueClaim) => uniqueKey(pk, container.uniqueKeys[key]?.name as string, value);
  const open = claims.filter((claim) => !kept(claim));
  const items = open.length === 0 ? new Map<string, never>() : await dynamo.getMany(table, open.map(keyOfClaim));
  const holders = claims.map((claim) => (kept(claim) ? claim.idKey : items.get(keyText(keyOfClaim(claim)))?.["h"]?.S));
  const strangers = [
    ...new Set(holders.flatMap((holder) => (holder === undefined || rows.has(holder) ? [] : [holder]))),
  ];
  if (strangers.length > 0) {
    const found = await dynamo.getMany(
      table,
      strangers.map((idKey) => rowKey({ pk, idKey })),
    );
    for (const item of found.values()) rows.set(decodeRow(item).idKey, decodeRow(item));
  }
  const consistent = claims.every(({ key, value }, i) => {
    const holder = holders[i];
    return holder === undefined || rows.get(holder)?.uniques[key] === value;
  });
  return consistent ? holders : undefined;
}

/** The changes that keep the invariant true after the writes. */
export function uniqueActions(
  container: CompiledContainer,
  pk: string,
  writes: readonly PlannedWrite[],
  rows: ReadonlyMap<string, Row>,
  claims: readonly UniqueClaim[],
  holders: Holders,
): Action[] {
  const actions: Action[] = [];
  const nameOf = (key: number) => container.uniqueKeys[key]?.name as string;
  const claimed = new Set<string>();
  for (const [i, { key, value, idKey }] of claims.entries()) {
    claimed.add(`${key}:${value}`);
    const holder = holders[i];
    if (holder === idKey) continue;
    const item = { ...toKey(uniqueKey(pk, nameOf(key), value)), h: { S: idKey } };
    actions.push({
      do: "put",
      item,
      if: holder === undefined ? { attribute: "pk", value: undefined } : { attribute: "h", value: holder },
    });
  }
  for (const { idKey } of writes) {
    for (const [key, value] of (rows.get(idKey)?.uniques ?? []).entries()) {
      if (value === null || claimed.has(`${key}:${value}`)) continue;
      actions.push({ do: "delete", key: uniqueKey(pk, nameOf(key), value), if: { attribute: "h", value: idKey } });
    }
  }
  return actions;
}
