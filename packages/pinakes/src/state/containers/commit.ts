/** Commits a caller's operations on one partition atomically, together with the operations that the container's feature adds. */
import { setTimeout as sleep } from "node:timers/promises";
import type { BatchOutcome } from "@pinakes/client";
import { PinakesError, inBatch } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { BatchResult, Item, ItemStore, Operation, OperationResult, Partition } from "../../ports/item-store.ts";
import { storedView, type Incoming } from "./documents.ts";
import { needsStored, planWrites, type PlannedWrite } from "./plan-writes.ts";
import { inOwnWords } from "./target.ts";
import { idOfWrite, type Write } from "./writes.ts";

const attemptsMax = 50;
const pauseMsMax = 100;

/** Another writer committed between our read and our write. */
class Outrun extends Error {}

export interface Commit extends Incoming {
  readonly items: ItemStore;
  readonly partition: Partition;
}

/** An error names the failed operation (`context.batch`). */
export async function commitBatch(commit: Commit, writes: readonly Write[]): Promise<readonly BatchOutcome[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await commitOnce(commit, writes);
    } catch (error) {
      const outrun = error instanceof Outrun;
      if (!outrun || attempt >= attemptsMax) throw inOwnWords(commit.target, outrun ? error.cause : error);
      await sleep(Math.random() * Math.min(pauseMsMax, 2 ** attempt));
    }
  }
}

/** A single operation; its error is not wrapped as a batch error. */
export async function commitOne(commit: Commit, write: Write): Promise<BatchOutcome> {
  try {
    const [outcome] = await commitBatch(commit, [write]);
    return outcome as BatchOutcome;
  } catch (error) {
    throw PinakesError.isInstance(error) && error.context.batch !== undefined && PinakesError.isInstance(error.cause)
      ? error.cause
      : error;
  }
}

async function commitOnce(commit: Commit, writes: readonly Write[]): Promise<readonly BatchOutcome[]> {
  const { items, target, caller, partition } = commit;
  const planned = planWrites(commit, writes, await readStored(commit, writes));
  const operations = planned.map(({ operation }) => operation);
  const companions = target.system?.companions?.(operations, commit.now) ?? [];
  requireRoom(items, operations.length, companions.length);
  await target.system?.admit?.(
    items,
    caller.scope,
    operations.flatMap((operation) => ("document" in operation ? [operation.document] : [])),
  );
  let result: BatchResult;
  try {
    result = await items.batch(caller.scope, target.definition.name, partition, [...operations, ...companions]);
  } catch (error) {
    throw asFailure(error, planned, (index) => refused(commit, companions[index - planned.length]));
  }
  return planned.map((plan, i) => outcomeOf(commit, plan, result.results[i] as OperationResult, result.results));
}

async function readStored(commit: Commit, writes: readonly Write[]): Promise<ReadonlyMap<string, Item> | undefined> {
  const { items, target, caller, partition } = commit;
  if (!writes.some((write) => needsStored(commit, write))) return undefined;
  const ids = [...new Set(writes.flatMap((write) => idOfWrite(write) ?? []))];
  const found = await items.readMany(
    caller.scope,
    target.definition.name,
    ids.map((id) => ({ partition, id })),
  );
  return new Map(found.flatMap((item) => (item === undefined ? [] : [[item.id, item] as const])));
}

function requireRoom({ capabilities }: ItemStore, operations: number, companions: number): void {
  const max = Math.min(capabilities.batchOperationsMax, limits.batchOperationsMax) - companions;
  if (operations <= max) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `The batch has ${operations} operations; at most ${max} are allowed here (${capabilities.engine}). Split it where it need not be atomic.`,
  );
}

/** The error in terms of the caller's operations; an Outrun if one of our conditions failed. */
function asFailure(error: unknown, planned: readonly PlannedWrite[], refusedAt: (index: number) => string): unknown {
  if (!PinakesError.isInstance(error) || error.context.batch === undefined) return error;
  const { index } = error.context.batch;
  const own = planned[index];
  const told = PinakesError.isInstance(error.cause) ? error.cause : error;
  const lost = ["PRECONDITION_FAILED", "CONFLICT", "NOT_FOUND"].includes(told.code);
  if (own === undefined) return lost ? new PinakesError("CONFLICT", refusedAt(index), { cause: told }) : told;
  const failure = inBatch(told, index, planned.length);
  return own.guarded && lost ? new Outrun("changed meanwhile", { cause: failure }) : failure;
}

function refused({ target, partition }: Commit, companion: Operation | undefined): string {
  const told = companion === undefined ? undefined : target.system?.refusal?.(companion, partition);
  return told ?? `The rules of container "${target.name}" refuse this now. Read the item again and retry.`;
}

function outcomeOf(
  { target, now }: Commit,
  plan: PlannedWrite,
  result: OperationResult,
  all: readonly OperationResult[],
): BatchOutcome {
  const { id, status, item } = plan;
  if (item !== undefined) return { status, id, etag: item.etag, document: storedView(target, item) };
  // A read of what this batch wrote returns the item's new etag.
  const written =
    result.etag === undefined ? all.findLast((other) => other.id === id && other.etag !== undefined) : result;
  const document = result.document ?? plan.document;
  if (written?.etag === undefined || document === undefined) return { status, id };
  return {
    status,
    id,
    etag: written.etag,
    document: storedView(target, { document, etag: written.etag, modifiedAt: written.modifiedAt ?? now }),
  };
}
