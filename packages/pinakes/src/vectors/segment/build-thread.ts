/** Builds files in a thread of its own, so that quantising, tokenising and k-means leave the event loop alone. */
import { parentPort } from "node:worker_threads";
import { buildDelta } from "./build-delta.ts";
import { mergeSegments } from "./merge-segments.ts";
import { SegmentBytes } from "./segment-bytes.ts";
import type { BuildAnswer, BuildOrder } from "./build-pool.ts";
import { PinakesError } from "../../domain/errors.ts";

parentPort?.on("message", (order: BuildOrder) => {
  parentPort?.postMessage(...answer(order));
});

function answer(order: BuildOrder): [BuildAnswer, ArrayBuffer[]] {
  try {
    const { file, buffer } = build(order);
    return [{ call: order.call, file }, [buffer]];
  } catch (error) {
    const known = PinakesError.isInstance(error);
    return [
      { call: order.call, error: { code: known ? error.code : "INTERNAL", detail: known ? error.detail : `A file could not be built: ${String(error)}` } },
      [],
    ];
  }
}

function build(order: BuildOrder): { file: NonNullable<Extract<BuildAnswer, { file: unknown }>["file"]>; buffer: ArrayBuffer } {
  if (order.kind === "delta") {
    const file = buildDelta(order.collection, order.settings, order.rows);
    return { file, buffer: file.bytes.buffer as ArrayBuffer };
  }
  const sources = order.sources.map(({ header, buffer, base, deltaSeq }) => ({
    segment: new SegmentBytes(header, buffer, base),
    ...(deltaSeq === undefined ? {} : { deltaSeq }),
  }));
  const file = mergeSegments(order.collection, order.settings, sources, order.picks);
  return { file, buffer: file.bytes.buffer as ArrayBuffer };
}
