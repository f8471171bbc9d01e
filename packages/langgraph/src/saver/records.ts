/** Checkpoints and waiting writes as items. */
import type { JsonObject } from "@pinakes/client";
import {
  WRITES_IDX_MAP,
  type ChannelVersions,
  type Checkpoint,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { makeCell, serialise, type Blobs, type Cell, type TextCell } from "./cells.ts";
import { checkpointId, writesId } from "./keys.ts";

/** A checkpoint without its values: those are cells, by channel. A channel that has a version and no cell is empty. */
export interface CheckpointRecord {
  readonly id: string;
  readonly life: string;
  readonly ns: string;
  readonly cp: string;
  readonly parent?: string;
  readonly v: number;
  readonly ts: string;
  /** JSON text, because names of channels and nodes are chosen by the user. */
  readonly versions: string;
  readonly seen: string;
  readonly meta: TextCell;
  /** [channel, cell] as JSON text, if there are any. */
  readonly values?: string;
}

export interface CheckpointPlace {
  readonly ns: string;
  readonly parent: string | undefined;
}

export function checkpointRecord(
  life: string,
  { ns, parent }: CheckpointPlace,
  checkpoint: Checkpoint,
  cells: { readonly meta: TextCell; readonly values: ReadonlyMap<string, Cell> },
): CheckpointRecord {
  return {
    id: checkpointId(ns, checkpoint.id),
    life,
    ns,
    cp: checkpoint.id,
    ...(parent === undefined ? {} : { parent }),
    v: checkpoint.v,
    ts: checkpoint.ts,
    versions: JSON.stringify(checkpoint.channel_versions),
    seen: JSON.stringify(checkpoint.versions_seen),
    meta: cells.meta,
    ...(cells.values.size === 0 ? {} : { values: JSON.stringify([...cells.values]) }),
  };
}

export function cellsOf(record: CheckpointRecord): Map<string, Cell> {
  return new Map(record.values === undefined ? [] : (JSON.parse(record.values) as [string, Cell][]));
}

export function versionsOf(record: CheckpointRecord): ChannelVersions {
  return JSON.parse(record.versions) as ChannelVersions;
}

/** Writes of one task: all regular ones together, each special one separately. */
export interface WritesRecord {
  readonly id: string;
  readonly life: string;
  readonly task: string;
  /** [place, channel, value]; special ones have negative places. */
  readonly w: readonly (readonly [place: number, channel: string, value: TextCell])[];
}

export function isWritesRecord(item: object): item is WritesRecord {
  return "w" in item;
}

export async function writesRecords(
  serde: SerializerProtocol,
  target: { readonly life: string; readonly ns: string; readonly checkpoint: string; readonly task: string },
  writes: readonly PendingWrite[],
  blobs: Blobs,
): Promise<WritesRecord[]> {
  const { life, ns, checkpoint, task } = target;
  const made = await Promise.all(
    writes.map(
      async ([channel, value], i) =>
        [WRITES_IDX_MAP[channel] ?? i, channel, makeCell(await serialise(serde, value), blobs)] as const,
    ),
  );
  const regular = made.filter(([place]) => place >= 0);
  const special = made
    .filter(([place]) => place < 0)
    .map((write) => ({ id: writesId(ns, checkpoint, task, `s${-write[0]}`), life, task, w: [write] }));
  return regular.length === 0
    ? special
    : [{ id: writesId(ns, checkpoint, task, "r"), life, task, w: regular }, ...special];
}

/** Existing writes are kept; only missing indexes are added. */
export function mergedWrites(stored: WritesRecord, more: WritesRecord): WritesRecord | undefined {
  const places = new Set(stored.w.map(([place]) => place));
  const added = more.w.filter(([place]) => !places.has(place));
  return added.length === 0 ? undefined : { ...stored, w: [...stored.w, ...added].toSorted(([a], [b]) => a - b) };
}

export function asDocument(
  threadId: string,
  record: CheckpointRecord | WritesRecord,
): JsonObject & { readonly id: string } {
  return { ...(record as unknown as JsonObject & { readonly id: string }), thread_id: threadId };
}
