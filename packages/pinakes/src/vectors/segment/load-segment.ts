/**
 * A segment in memory, ready to be searched: one shared WebAssembly memory that holds the file, then a scratch area for every thread
 * ("slot"). The file's bytes may arrive in pieces; only what a search reads must be loaded.
 */
import { invariant } from "../../domain/invariant.ts";
import { scratchOf } from "../kernels/context.ts";
import { align, sharedMemory, type WasmMemory } from "../kernels/kernels.ts";
import { SegmentBytes, type SegmentHeader } from "../segment-bytes.ts";

/** All of it can be sent to another thread, which uses it through `segmentOf`. */
export interface LoadedSegment {
  readonly header: SegmentHeader;
  readonly memory: WasmMemory;
  readonly fileBytes: number;
  /** How many threads can search it at the same time. */
  readonly slots: number;
}

/**
 * @param slots as many as threads search it: `pool.slots`
 * @param pieces parts of the file with their offsets; more can be written later with `writePiece`
 */
export function loadSegment(
  header: SegmentHeader,
  fileBytes: number,
  slots: number,
  pieces: Iterable<{ readonly offset: number; readonly bytes: Uint8Array }> = [],
): LoadedSegment {
  const loaded = { header, memory: sharedMemory(align(fileBytes) + slots * scratchOf(header).bytes), fileBytes, slots };
  for (const { offset, bytes } of pieces) writePiece(loaded, offset, bytes);
  return loaded;
}

export function writePiece(loaded: LoadedSegment, offset: number, bytes: Uint8Array): void {
  invariant(offset + bytes.length <= loaded.fileBytes, "INTERNAL", "A part of a segment must be within its file.");
  new Uint8Array(loaded.memory.buffer, offset, bytes.length).set(bytes);
}

/** The file's bytes, for readers that fill a buffer themselves. */
export function fileBytesOf(loaded: LoadedSegment): Uint8Array {
  return new Uint8Array(loaded.memory.buffer, 0, loaded.fileBytes);
}

export function segmentOf(loaded: LoadedSegment): SegmentBytes {
  return new SegmentBytes(loaded.header, loaded.memory.buffer, 0);
}

/** Where the scratch area of a slot begins. */
export function scratchAddress(loaded: LoadedSegment, slot: number): number {
  invariant(
    slot >= 0 && slot < loaded.slots,
    "INTERNAL",
    `Slot ${slot} is not one of the ${loaded.slots} of the segment; load it with pool.slots.`,
  );
  return align(loaded.fileBytes) + slot * scratchOf(loaded.header).bytes;
}
