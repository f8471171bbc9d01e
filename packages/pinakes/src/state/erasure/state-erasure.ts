/**
 * What an erasure (RFC 0012) does to agents' state beyond deleting items: metrics become anonymous, chained invocations leave a tombstone,
 * derived data (sealed hours, the index of memories) goes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PinakesError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { expiresAt } from "../../domain/ttl.ts";
import type { Scope } from "../../domain/scope.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";
import type { Operation } from "../../ports/item-store.ts";
import { succeeds, tolerate } from "../../runtime/expected-errors.ts";
import type { StateDependencies } from "../dependencies.ts";
import { memoryIndexPrefix, memoryRowKey } from "../memories/memory-index.ts";
import { memoriesContainer } from "../memories/schema.ts";
import { BlockStore } from "../series/aggregate/block-store.ts";
import { metricSeries } from "../series/metric-document.ts";
import { seriesOf } from "../series/series.ts";
import { stampCompanions } from "../series/stamps.ts";
import { toolSeries } from "../series/tool-document.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { objectPrefix } from "../workflows/checkpoint-item.ts";
import { pagesOf } from "../../runtime/pages.ts";
import { anonymousRows, type Piece } from "./anonymous-rows.ts";

const rowsPerLook = 500;
const scrubAttemptsMax = 60;
const scrubPauseMs = 500;
const collectionsPerPage = 100;

export type SeriesName = "metrics" | "tools";

export class StateErasure {
  readonly #deps: StateDependencies;

  constructor(deps: StateDependencies) {
    this.#deps = deps;
  }

  /** The prefix of the objects that hold large states of a workflow's checkpoints. */
  workflowPrefix(workflowId: string): string {
    return objectPrefix(workflowId);
  }

  /**
   * Replaces rows by anonymous ones with equal count and sum for each day, agent and type. Each piece is one batch, so a crash leaves rows that
   * are as they were or anonymous, and never both. Returns how many it replaced.
   */
  async anonymise(scope: Scope, date: string, rows: readonly WalkedItem[], agent: string | undefined): Promise<number> {
    const { items, clock } = this.#deps;
    const { ttlSeconds } = seriesOf(items, scope, metricSeries);
    let replaced = 0;
    for (const piece of planPieces(rows)) {
      const operations: Operation[] = [
        ...piece.rows.map(({ id, etag }): Operation => ({ op: "delete", id, ifMatch: etag })),
        ...anonymousRows(piece, { agent, now: clock.now(), ttlSeconds }).map((document): Operation => ({
          op: "create",
          document,
        })),
      ];
      const batch = [...operations, ...stampCompanions(metricSeries, operations)];
      // Changed or expired meanwhile: the next pass finds what there is.
      const conflicts = ["PRECONDITION_FAILED", "NOT_FOUND", "CONFLICT"] as const;
      if (await succeeds(items.batch(scope, metricSeries.container, [date], batch), ...conflicts))
        replaced += piece.rows.length;
    }
    return replaced;
  }

  /** Sealed hours are derived from rows and hold their dimensions. */
  async dropBlocks(scope: Scope, series: SeriesName, dates: Iterable<string>): Promise<void> {
    const blocks = new BlockStore(this.#deps.objects, this.#deps.log);
    for (const date of dates) await blocks.deleteDay(scope, { series, date });
  }

  /** Deletes an invocation. In a chained day an entry without content keeps its place, so that the rest of the chain still verifies. */
  async removeInvocation(scope: Scope, date: string, row: WalkedItem): Promise<boolean> {
    const { items, clock } = this.#deps;
    const { id, etag } = row;
    const tombstone = erasedEntry(date, row, {
      now: clock.now(),
      ttlSeconds: seriesOf(items, scope, toolSeries).ttlSeconds,
    });
    const operations: Operation[] = [
      { op: "delete", id, ifMatch: etag },
      ...(tombstone === undefined ? [] : [{ op: "upsert", document: tombstone } as const]),
    ];
    const companions = stampCompanions(toolSeries, [{ op: "delete", id }]);
    return succeeds(
      items.batch(scope, toolSeries.container, [date], [...operations, ...companions]),
      "PRECONDITION_FAILED",
      "NOT_FOUND",
    );
  }

  /** Rows of memories that no longer exist leave the indexes of searches, and every file of theirs. Returns how many rows. */
  async cleanMemoryIndexes(scope: Scope, signal: AbortSignal): Promise<number> {
    let removed = 0;
    for (const name of await this.#memoryIndexes(scope)) {
      const gone = await this.#goneRows(scope, name);
      for (let at = 0; at < gone.length; at += rowsPerLook)
        await this.#deps.vectors.append(scope, name, { delete: gone.slice(at, at + rowsPerLook) });
      removed += gone.length;
      await this.#scrub(scope, name, signal);
    }
    return removed;
  }

  async countMemoryIndexes(scope: Scope): Promise<number> {
    let count = 0;
    for (const name of await this.#memoryIndexes(scope)) {
      const { rows, versions, unreadable } = await this.#deps.vectors.leftovers(scope, name);
      count += (await this.#goneRows(scope, name)).length + rows + versions + unreadable;
    }
    return count;
  }

  async #memoryIndexes(scope: Scope): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const page of pagesOf((cursor) =>
      this.#deps.vectors.list(scope, { cursor, limit: collectionsPerPage }),
    )) {
      names.push(...page.collections.map(({ collection }) => collection));
    }
    return names.filter((name) => name.startsWith(memoryIndexPrefix));
  }

  async #goneRows(scope: Scope, name: string): Promise<readonly string[]> {
    const gone: string[] = [];
    let rows: { readonly id: string; readonly metadata: JsonObject }[] = [];
    const look = async (): Promise<void> => {
      const keys = rows.map(({ metadata }) => memoryRowKey(metadata));
      const found = await this.#deps.items.readMany(scope, memoriesContainer, keys);
      gone.push(...rows.filter((_, i) => found[i] === undefined).map(({ id }) => id));
      rows = [];
    };
    for await (const { id, metadata } of this.#deps.vectors.rows(scope, name)) {
      rows.push({ id, metadata });
      if (rows.length === rowsPerLook / 5) await look();
    }
    if (rows.length > 0) await look();
    return gone;
  }

  async #scrub(scope: Scope, name: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await tolerate(this.#deps.vectors.scrub(scope, name, { signal }), "NOT_FOUND");
      if (result === undefined || result.outcome === "done") return;
      if (attempt >= scrubAttemptsMax)
        throw new PinakesError("UNAVAILABLE", `The vectors "${name}" are being compacted by another process.`);
      await sleep(scrubPauseMs, undefined, { signal });
    }
  }
}

/** Whether a row of the tool log only keeps a place in a chain. */
export function isErasedEntry(document: JsonObject): boolean {
  return document[companionField] === "erased";
}

// What takes the place of an erased entry of a hash chain: its link, which holds the hash of the entry, and nothing else of it.

/** Undefined: the entry is in no chain. */
function erasedEntry(
  date: string,
  { document, modifiedAt }: WalkedItem,
  { now, ttlSeconds }: { readonly now: number; readonly ttlSeconds: number | null },
): JsonObject | undefined {
  const chain = document["chain"] as JsonObject | undefined;
  if (chain === undefined || chain === null) return undefined;
  // It expires when the entry would have: a chain expires from its oldest end.
  const expires = expiresAt(ttlSeconds, null, modifiedAt);
  return {
    id: `${reservedIdPrefix}erased-${chain["sequence"] as number}`,
    [toolSeries.dateField]: date,
    [companionField]: "erased",
    chain,
    ttl: expires === null ? -1 : Math.max(1, Math.ceil((expires - now) / 1000)),
  };
}

// Which metrics of one day become anonymous together (R-AGT-66): pieces of five to nine rows of one agent and type, of one hour, model and
// environment where there are enough, else of the day. Where the day has fewer than five, they are one piece: totals for each day, agent and
// type must stay equal, so there is nothing to merge them with.

/** k: no anonymous group is smaller where it can be larger. */
const groupRowsMin = 5;

function planPieces(rows: readonly WalkedItem[]): readonly Piece[] {
  const byTotal = Map.groupBy(rows, ({ document }) => JSON.stringify([document["agent_id"], document["metric_type"]]));
  return [...byTotal.values()].flatMap(piecesOf);
}

function piecesOf(rows: readonly WalkedItem[]): readonly Piece[] {
  const byHour = Map.groupBy(rows, hourGroup);
  const pieces: Piece[] = [];
  let pool: WalkedItem[] = [];
  for (const group of byHour.values()) {
    if (group.length < groupRowsMin) pool.push(...group);
    else pieces.push(...split(group).map((some) => ({ of: "hour", rows: some }) as const));
  }
  if (pool.length > 0 && pool.length < groupRowsMin) pool = [...pool, ...(pieces.pop()?.rows ?? [])];
  return [...pieces, ...split(pool).map((some) => ({ of: "day", rows: some }) as const)];
}

function hourGroup({ document }: WalkedItem): string {
  const { environment, model } = (document["dimensions"] ?? {}) as { environment?: unknown; model?: unknown };
  return JSON.stringify([(document["timestamp"] as string).slice(0, 13), environment, model]);
}

/** Into pieces of `groupRowsMin` and the last of up to twice as many less one, which is within every engine's batch. */
function split(rows: readonly WalkedItem[]): readonly (readonly WalkedItem[])[] {
  const pieces: (readonly WalkedItem[])[] = [];
  let at = 0;
  for (; rows.length - at >= 2 * groupRowsMin; at += groupRowsMin) pieces.push(rows.slice(at, at + groupRowsMin));
  return at < rows.length ? [...pieces, rows.slice(at)] : pieces;
}
