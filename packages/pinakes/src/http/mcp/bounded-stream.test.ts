import { expect, it } from "vitest";
import { boundedStream } from "./bounded-stream.ts";

/** Endless; counts what was taken from it. */
function flood(): {
  readonly stream: ReadableStream<Uint8Array>;
  readonly taken: () => number;
  readonly ended: Promise<unknown>;
} {
  const cancelled = Promise.withResolvers<unknown>();
  let taken = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        taken += 1;
        controller.enqueue(new Uint8Array(100));
      },
      cancel: (reason) => cancelled.resolve(reason),
    },
    { highWaterMark: 0 },
  );
  return { stream, taken: () => taken, ended: cancelled.promise };
}

it("a client that never reads: the source ends at the limit, its place is free once, and what waited can still be read", async () => {
  const { stream, taken, ended } = flood();
  let ends = 0;
  const bounded = boundedStream(stream, { bytesMax: 1_000, waitMs: 20, onEnd: () => (ends += 1) });
  await ended;
  expect(await Array.fromAsync(bounded)).toHaveLength(10);
  expect([taken(), ends]).toEqual([10, 1]);
});

it("a client that reads gets everything; one that leaves ends the source", async () => {
  const { stream, ended } = flood();
  let ends = 0;
  const reader = boundedStream(stream, { bytesMax: 1_000, waitMs: 20, onEnd: () => (ends += 1) }).getReader();
  for (let i = 0; i < 5; i += 1) expect((await reader.read()).value).toHaveLength(100);
  await reader.cancel("gone");
  await ended;
  expect(ends).toBe(1);
});

it("a burst that is larger than the buffer reaches a client that reads, however late it begins", async () => {
  let ends = 0;
  const burst = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < 50; i += 1) controller.enqueue(new Uint8Array(100).fill(i));
      controller.close();
    },
  });
  const bounded = boundedStream(burst, { bytesMax: 1_000, waitMs: 60_000, onEnd: () => (ends += 1) });
  await new Promise((resolve) => setImmediate(resolve));
  const chunks = await Array.fromAsync(bounded);
  expect(chunks.map(([first]) => first)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  expect(ends).toBe(1);
});

it("a client that leaves while the source waits for it ends the source at once", async () => {
  const { stream, taken, ended } = flood();
  let ends = 0;
  const bounded = boundedStream(stream, { bytesMax: 1_000, waitMs: 60_000, onEnd: () => (ends += 1) });
  while (taken() < 10) await new Promise((resolve) => setImmediate(resolve));
  await bounded.cancel("gone");
  expect(await ended).toBe("gone");
  expect(ends).toBe(1);
});
