/** Reads checkpoints: those inside the document and those that are items, in one order: by step, then by time. */
import type { Checkpoint, Page, Paging } from "@pinakes/client";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Item, Query } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { itemsOf } from "../../runtime/pages.ts";
import { fromItem, lifePrefix, stepPrefix, type CheckpointItem } from "./checkpoint-item.ts";
import { containerName } from "./definition.ts";
import type { LatestRecord } from "./latest.ts";
import { workflowLimits } from "./limits.ts";
import { checkLimit } from "./paging.ts";

/** The position in the order: at the same step those inside the document come first, in their order there. */
interface Entry {
  readonly step: number;
  /** Its index in the document; null for an item. */
  readonly inline: number | null;
  readonly id: string;
  readonly bytes: number;
  readonly load: () => Promise<Checkpoint>;
}

export interface Recent {
  readonly checkpoints: readonly Checkpoint[];
  readonly omitted: number;
}

export interface CheckpointQuery extends Paging {
  readonly order?: "asc" | "desc" | undefined;
}

const recentPageItems = 25;

export class CheckpointReads {
  readonly #deps: StateDependencies;

  constructor(deps: StateDependencies) {
    this.#deps = deps;
  }

  /** Of a step, or of all; undefined if there is none. */
  async at(
    scope: Scope,
    document: JsonObject,
    latest: LatestRecord | undefined,
    step: number | "latest",
    known?: Item,
  ): Promise<Checkpoint | undefined> {
    const inline = inlineOf(document).filter((checkpoint) => step === "latest" || checkpoint.step === step);
    const last = inline.toSorted((a, b) => a.step - b.step).at(-1);
    if (latest === undefined) return last;
    const found =
      step === "latest"
        ? (known ?? (await this.#read(scope, latest)))
        : await this.#lastOf(scope, latest, stepPrefix(latest.life, step));
    const item = found?.document as CheckpointItem | undefined;
    if (item === undefined || (last !== undefined && last.step > item.step)) return last;
    return this.#load(scope, item);
  }

  /** The latest of all that fit, oldest first. */
  async recent(scope: Scope, document: JsonObject, latest: LatestRecord): Promise<Recent> {
    const inline = inlineOf(document);
    const shown: Entry[] = [];
    let left: number = workflowLimits.recentCheckpointsBytesMax;
    for await (const entry of this.#descending(scope, latest, inline)) {
      left -= entry.bytes;
      if (left < 0) break;
      shown.push(entry);
    }
    const checkpoints = await Promise.all(shown.toReversed().map(({ load }) => load()));
    return { checkpoints, omitted: left < 0 ? inline.length + latest.count - shown.length : 0 };
  }

  async page(
    scope: Scope,
    document: JsonObject,
    latest: LatestRecord | undefined,
    query: CheckpointQuery,
  ): Promise<Page<Checkpoint>> {
    const order = query.order ?? "asc";
    if (order !== "asc" && order !== "desc")
      throw invalid(`order: must be "asc" or "desc", got ${JSON.stringify(order)}.`);
    const limit = checkLimit(query.limit);
    const life = latest?.life ?? "";
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor, life, order);
    const behind = (entry: Entry) => after === undefined || compare(entry, after) * (order === "asc" ? 1 : -1) > 0;
    const prefix = lifePrefix(life);
    // After one inside the document the items of its step follow, or precede it in descending order.
    const bound = after === undefined ? undefined : after.inline === null ? after.id : stepPrefix(life, after.step);
    const range = {
      gt: prefix,
      lt: `${prefix}~`,
      ...(bound === undefined ? {} : order === "asc" ? { gt: bound } : { lt: bound }),
    };
    const found =
      latest === undefined ? { items: [] } : await this.#query(scope, latest.workflow_id, { range, order, limit });
    const items = found.items.map((item) => this.#entry(scope, item.document as CheckpointItem));
    const inline = inlineOf(document).map(inlineEntry).filter(behind);
    const merged = [...inline, ...items].toSorted((a, b) => compare(a, b) * (order === "asc" ? 1 : -1));
    // The page of items may have ended early: the position of later ones is unknown.
    const last = found.cursor === undefined ? undefined : items.at(-1);
    const known = last === undefined ? merged : merged.slice(0, merged.indexOf(last) + 1);
    const taken = fitting(known, limit);
    const checkpoints: Checkpoint[] = [];
    for (const { load } of taken) checkpoints.push(await load());
    const end = taken.length === merged.length && found.cursor === undefined;
    return { items: checkpoints, next_cursor: end ? null : writeCursor(taken.at(-1) as Entry, life, order) };
  }

  async *#descending(scope: Scope, latest: LatestRecord, inline: readonly Checkpoint[]): AsyncGenerator<Entry> {
    const inside = inline.map(inlineEntry).toSorted(compare);
    for await (const { document } of itemsOf((cursor) =>
      this.#query(scope, latest.workflow_id, {
        range: { prefix: lifePrefix(latest.life) },
        order: "desc",
        limit: recentPageItems,
        cursor,
      }),
    )) {
      const entry = this.#entry(scope, document as CheckpointItem);
      while (inside.length > 0 && compare(inside.at(-1) as Entry, entry) > 0) yield inside.pop() as Entry;
      yield entry;
    }
    yield* inside.toReversed();
  }

  #entry(scope: Scope, item: CheckpointItem): Entry {
    return { step: item.step, inline: null, id: item.id, bytes: item.bytes, load: () => this.#load(scope, item) };
  }

  async #load(scope: Scope, item: CheckpointItem): Promise<Checkpoint> {
    return fromItem(item, item.object === undefined ? undefined : await this.#deps.objects.get(scope, item.object));
  }

  async #query(
    scope: Scope,
    workflowId: string,
    query: Omit<Query, "equals">,
  ): Promise<{ items: readonly Item[]; cursor?: string }> {
    return this.#deps.items.query(scope, containerName, { equals: { workflow_id: workflowId }, ...query });
  }

  /** It may have been deleted through the containers API: then the one before it is the latest. */
  async #read(scope: Scope, latest: LatestRecord): Promise<Item | undefined> {
    const item = await this.#deps.items.read(scope, containerName, {
      partition: [latest.workflow_id],
      id: latest.checkpoint_id,
    });
    return item ?? this.#lastOf(scope, latest, lifePrefix(latest.life));
  }

  async #lastOf(scope: Scope, { workflow_id }: LatestRecord, prefix: string): Promise<Item | undefined> {
    return (await this.#query(scope, workflow_id, { range: { prefix }, order: "desc", limit: 1 })).items[0];
  }
}

export function noCheckpoint(workflowId: string, step: number | "latest"): PinakesError {
  return new PinakesError(
    "NOT_FOUND",
    `Workflow "${workflowId}" has no checkpoint${step === "latest" ? " yet" : ` of step ${step}`}.`,
  );
}

function inlineOf(document: JsonObject): readonly Checkpoint[] {
  return (document["checkpoints"] ?? []) as unknown as readonly Checkpoint[];
}

function inlineEntry(checkpoint: Checkpoint, index: number): Entry {
  const bytes = Buffer.byteLength(JSON.stringify(checkpoint), "utf8");
  return { step: checkpoint.step, inline: index, id: "", bytes, load: () => Promise.resolve(checkpoint) };
}

type Position = Pick<Entry, "step" | "inline" | "id">;

function compare(a: Position, b: Position): number {
  if (a.step !== b.step) return a.step - b.step;
  if (a.inline !== null || b.inline !== null) return (a.inline ?? Infinity) - (b.inline ?? Infinity);
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/** At least one, so that every page makes progress. */
function fitting(entries: readonly Entry[], limit: number): readonly Entry[] {
  let bytes = 0;
  const over = entries.findIndex((entry) => (bytes += entry.bytes) > workflowLimits.checkpointPageBytesMax);
  return entries.slice(0, Math.min(limit, over < 0 ? entries.length : Math.max(over, 1)));
}

function writeCursor({ step, inline, id }: Position, life: string, order: string): string {
  return Buffer.from(JSON.stringify([life, order, step, inline, id]), "utf8").toString("base64url");
}

/** Not signed: it only encodes a position in checkpoints that its caller may read. */
function readCursor(cursor: string, life: string, order: string): Position {
  let given: unknown;
  try {
    given = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    given = undefined;
  }
  const [theLife, theOrder, step, inline, id] = Array.isArray(given) ? (given as unknown[]) : [];
  const isPlace =
    Number.isSafeInteger(step) &&
    (inline === null
      ? typeof id === "string" && id.startsWith(lifePrefix(life)) && id.length < 150
      : Number.isSafeInteger(inline));
  if (theLife !== life || theOrder !== order || !isPlace)
    throw invalid("cursor: is not a cursor of this list in this order. Omit it to start over.");
  return { step: step as number, inline: inline as number | null, id: id as string };
}
