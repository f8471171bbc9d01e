/**
 * The position of the latest checkpoint: the companion item `~latest`, written in the batch of each checkpoint, so that the latest is found by
 * two point reads instead of a scan. A workflow without one has only the checkpoints in its document.
 */
import type { JsonObject } from "../../domain/json.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import type { LeaseRecord } from "./lease.ts";

export const latestId = `${reservedIdPrefix}latest`;

export interface LatestRecord extends JsonObject {
  readonly id: string;
  readonly workflow_id: string;
  /** The life it belongs to: that of an earlier one is ignored. */
  readonly life: string;
  readonly checkpoint_id: string;
  /** The number of checkpoints, which is also the number of the last one. */
  readonly count: number;
  readonly ttl: -1;
}

export function latestOf(item: Item | undefined, { life }: LeaseRecord): LatestRecord | undefined {
  const record = item?.document as LatestRecord | undefined;
  return record?.life === life ? record : undefined;
}

export function newLatest(workflow_id: string, life: string, checkpoint_id: string, count: number): LatestRecord {
  return { id: latestId, workflow_id, [companionField]: "latest", life, checkpoint_id, count, ttl: -1 };
}

/** After one more. Ids of checkpoints sort by step, then by number: the greater one is the later. */
export function latestOperation(item: Item | undefined, lease: LeaseRecord, checkpointId: string): Operation {
  const before = latestOf(item, lease);
  const later = before === undefined || checkpointId > before.checkpoint_id ? checkpointId : before.checkpoint_id;
  const document = newLatest(lease.workflow_id, lease.life, later, (before?.count ?? 0) + 1);
  return item === undefined ? { op: "create", document } : { op: "replace", document, ifMatch: item.etag };
}
