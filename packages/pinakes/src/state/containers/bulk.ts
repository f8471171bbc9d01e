/**
 * Many operations on any partitions, each independent. Operations of one partition are batched in order, for speed; if a batch
 * fails, nothing of it was written, and its operations are executed one by one, so that each gets its own result.
 */
import type { LineResult } from "@pinakes/client";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { utf8Bytes } from "../../domain/json.ts";
import type { Partition } from "../../ports/item-store.ts";
import { commitBatch, commitOne, type Commit } from "./commit.ts";
import { placedIn, type Incoming } from "./documents.ts";
import { partitionOf } from "./target.ts";
import { parseWrite, pkOf, type Write } from "./writes.ts";

export const bulkOperationsMax = 10_000;
/** Within the limits of every engine, with room for companions. */
const batchOperations = 24;
const batchBytesMax = 1_048_576;
const partitionsAtOnce = 8;

interface Line {
  readonly line: number;
  readonly write: Write;
  readonly partition: Partition;
}

export interface BulkOutcome {
  readonly succeeded: number;
  readonly failed: number;
  readonly lines: readonly LineResult[];
}

export async function commitBulk(
  bulk: Omit<Commit, "partition">,
  operations: readonly unknown[],
): Promise<BulkOutcome> {
  if (!Array.isArray(operations)) throw invalid("operations: must be a list.");
  if (operations.length > bulkOperationsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `${operations.length} operations; at most ${bulkOperationsMax} are accepted per call. Send the rest in further calls.`,
    );
  const results: LineResult[] = [];
  const lines = operations.flatMap((operation: unknown, i): Line[] => {
    try {
      return [parseLine(bulk, operation, i + 1)];
    } catch (error) {
      results.push(failedLine(i + 1, error));
      return [];
    }
  });
  const groups = [...Map.groupBy(lines, ({ partition }) => JSON.stringify(partition)).values()];
  const next = async (): Promise<void> => {
    for (let group = groups.pop(); group !== undefined; group = groups.pop())
      results.push(...(await commitGroup(bulk, group)));
  };
  await Promise.all(Array.from({ length: partitionsAtOnce }, next));
  results.sort((a, b) => a.line - b.line);
  const failed = results.filter(({ error }) => error !== undefined).length;
  return { succeeded: results.length - failed, failed, lines: results };
}

function parseLine(incoming: Incoming, operation: unknown, line: number): Line {
  const { target } = incoming;
  const write = parseWrite(target, operation, incoming.now);
  if (write.op === "read" || write.op === "check")
    throw invalid(`op: "${write.op}" is not supported in a bulk load; use readMany, or a batch.`);
  const pk = pkOf(operation);
  if (pk !== undefined) return { line, write, partition: partitionOf(target, pk) };
  if (!("document" in write)) throw invalid(`pk: the partition key of the item to ${write.op} is missing.`);
  return { line, ...placedIn(incoming, write) };
}

async function commitGroup(bulk: Omit<Commit, "partition">, lines: readonly Line[]): Promise<LineResult[]> {
  const results: LineResult[] = [];
  for (const batch of batchesOf(lines)) results.push(...(await commitLines(bulk, batch)));
  return results;
}

function* batchesOf(lines: readonly Line[]): Generator<readonly Line[]> {
  let batch: Line[] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = utf8Bytes(JSON.stringify("document" in line.write ? line.write.document : line.write));
    if (batch.length > 0 && (batch.length >= batchOperations || bytes + size > batchBytesMax)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(line);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

async function commitLines(bulk: Omit<Commit, "partition">, lines: readonly Line[]): Promise<LineResult[]> {
  const commit = { ...bulk, partition: (lines[0] as Line).partition };
  try {
    const outcomes = await commitBatch(
      commit,
      lines.map(({ write }) => write),
    );
    return outcomes.map(({ status, id }, i) => ({
      line: (lines[i] as Line).line,
      status,
      ...(id === undefined ? {} : { id }),
    }));
  } catch (error) {
    // Whether anything was written is unknown: a retry could report a wrong result.
    if (!PinakesError.isInstance(error) || error.retryable) return lines.map(({ line }) => failedLine(line, error));
  }
  const results: LineResult[] = [];
  for (const { line, write } of lines) {
    try {
      const { status, id } = await commitOne(commit, write);
      results.push({ line, status, ...(id === undefined ? {} : { id }) });
    } catch (error) {
      results.push(failedLine(line, error));
    }
  }
  return results;
}

/** Anything but a PinakesError is a bug, which ends the whole call. */
function failedLine(line: number, error: unknown): LineResult {
  if (!PinakesError.isInstance(error)) throw error;
  return { line, status: error.status, error: { code: error.code, detail: error.detail } };
}
