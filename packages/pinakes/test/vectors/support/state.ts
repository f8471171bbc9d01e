/** Assertions: the rows of a collection, and that nothing is wrong or left over. */
import { expect } from "vitest";
import { PinakesError } from "../../../src/domain/errors.ts";
import type { ReadOptions } from "../../../src/vectors/read/reader.ts";
import type { Vectors } from "../../../src/vectors/vectors.ts";
import { hourMs, scope, type Machine, type Process } from "./machine.ts";

/** One line per row, sorted: id, vector, text and metadata. */
export async function rowsOf(vectors: Vectors, collection = "c", options: ReadOptions = {}): Promise<string[]> {
  const lines: string[] = [];
  for await (const { id, vector, text, metadata } of vectors.rows(scope, collection, options))
    lines.push(line(id, [...vector], text, metadata));
  return lines.sort();
}

export function line(id: string, vector: readonly number[], text?: string, metadata: object = {}): string {
  const sorted = Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify([id, vector, text ?? null, sorted]);
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await refusalOf(promise)).code;
}

/** The error of a call that must fail. */
export async function refusalOf(promise: Promise<unknown>): Promise<PinakesError> {
  const error = await promise.then(
    (value) => new Error(`nothing was refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!PinakesError.isInstance(error)) throw error;
  return error;
}

/**
 * A new process sweeps, as the background does, until leases of dead processes have expired and everything due is done. Without being told
 * the collection, and without manual steps.
 */
export async function recover(machine: Machine, process: Process = machine.process()): Promise<Process> {
  for (let round = 0; round < 4; round += 1) {
    await process.worker.sweep();
    machine.now += 2 * hourMs;
  }
  return process;
}

/** Nothing is pending; after garbage collection nothing is missing, corrupt or left over. */
export async function expectClean(process: Process, collection = "c"): Promise<void> {
  const { vectors } = process;
  expect(await vectors.stats(scope, collection)).toMatchObject({ pendingDeltas: 0, lease: { owner: null } });
  expect(await vectors.collect(scope, collection)).toMatchObject({ outcome: "done" });
  expect((await vectors.fsck(scope, collection)).findings).toEqual([]);
}
