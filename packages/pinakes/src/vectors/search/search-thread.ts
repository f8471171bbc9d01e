/** A search thread: it shares the memory of every segment with the others and has its own slot in each. */
import { sendError } from "../../runtime/sent-error.ts";
import { parentPort, workerData } from "node:worker_threads";
import { accountShared } from "../kernels/kernels.ts";
import { Bitmap } from "../segment/bitmap.ts";
import type { LoadedSegment } from "../segment/load-segment.ts";
import type { Answer, Order } from "./messages.ts";
import { runTask } from "./run-task.ts";
import { SegmentSearch } from "./search-segment.ts";

interface Held {
  readonly loaded: LoadedSegment;
  search?: SegmentSearch;
  dead?: Bitmap;
}

const { slot } = workerData as { readonly slot: number };
const held = new Map<string, Held>();

function segmentFor(id: string): { search: SegmentSearch; dead: Bitmap | undefined } | undefined {
  const segment = held.get(id);
  if (segment === undefined) return undefined;
  // Created at the first search: most threads never see most segments.
  segment.search ??= new SegmentSearch(segment.loaded, slot);
  return { search: segment.search, dead: segment.dead };
}

function follow(order: Order): Answer | undefined {
  switch (order.kind) {
    case "load":
      accountShared(order.loaded.memory.buffer);
      held.set(order.id, { loaded: order.loaded });
      return undefined;
    case "drop":
      held.delete(order.id);
      return undefined;
    case "dead": {
      const segment = held.get(order.id);
      if (segment !== undefined) segment.dead = new Bitmap(order.rows, order.words);
      return undefined;
    }
    case "search":
      try {
        return { call: order.call, ...runTask(order.task, segmentFor) };
      } catch (error) {
        return {
          call: order.call,
          error: sendError(error, (cause) => ({ detail: `A search failed: ${String(cause)}` })),
        };
      }
  }
}

parentPort?.on("message", (orders: readonly Order[]) => {
  const answers: Answer[] = [];
  for (const order of orders) {
    const answer = follow(order);
    if (answer !== undefined) answers.push(answer);
  }
  if (answers.length > 0) parentPort?.postMessage(answers);
});
