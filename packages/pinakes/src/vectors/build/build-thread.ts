/** Builds files in a thread of its own, so that quantising, tokenising and k-means leave the event loop alone. */
import { parentPort } from "node:worker_threads";
import { sendError } from "../../runtime/sent-error.ts";
import { accountShared } from "../kernels/kernels.ts";
import { buildDelta } from "./build-delta.ts";
import type { BuildAnswer, BuildOrder, BuildWork, VerifyWork } from "./build-worker.ts";
import { damagedPages, readHead, type EncodedFile } from "../segment/file-format.ts";
import { mergeSegments } from "./merge-segments.ts";
import { SegmentBytes } from "../segment-bytes.ts";
import { help } from "../segment/shared-rows.ts";

parentPort?.on("message", (order: BuildOrder) => {
  if ("help" in order) help(order.help);
  else post(...answer(order.call, order.work));
});

function post(message: BuildAnswer, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transferred);
}

function answer(call: number, work: BuildWork | VerifyWork): [BuildAnswer, ArrayBuffer[]] {
  try {
    if (work.kind === "verify") return [{ call, result: verify(work) }, []];
    const file = build(work);
    // One with lists is already in shared memory.
    return [{ call, result: file }, file.bytes.buffer instanceof ArrayBuffer ? [file.bytes.buffer] : []];
  } catch (error) {
    const sent = sendError(error, (cause) => ({ detail: `A file could not be built: ${String(cause)}` }));
    return [{ call, error: sent }, []];
  }
}

function verify({ memory, ref, from, to }: VerifyWork): number {
  accountShared(memory.buffer);
  const file = new Uint8Array(memory.buffer, 0, ref.bytes);
  return damagedPages(file, readHead(file, ref), from, to).length;
}

function build(work: BuildWork): EncodedFile {
  if (work.kind === "delta") {
    // All vectors of a delta are in one buffer.
    const vector = work.rows.find((row) => row.vector !== undefined)?.vector;
    if (vector !== undefined) accountShared(vector.buffer);
    return buildDelta(work.collection, work.settings, work.rows);
  }
  const sources = work.sources.map(({ header, buffer, base, deltaSeq }) => {
    accountShared(buffer);
    return { segment: new SegmentBytes(header, buffer, base), ...(deltaSeq === undefined ? {} : { deltaSeq }) };
  });
  return mergeSegments(work.collection, work.settings, sources, work.picks, (order) => post({ helpWanted: order }));
}
