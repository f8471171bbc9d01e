import { expect, it } from "vitest";
import { batchBytesMax, threadMessagesMax, inBatches } from "./in-batches.ts";

const sizes = (messages: readonly object[]) =>
  [...inBatches(messages as { readonly text: string }[])].map((batch) => batch.length);

it("a batch holds as many messages as the limit says; one more begins another, in order", () => {
  const messages = Array.from({ length: 2 * threadMessagesMax + 1 }, (_, i) => ({ i }));
  expect(sizes(messages.slice(0, threadMessagesMax))).toEqual([threadMessagesMax]);
  expect(sizes(messages)).toEqual([threadMessagesMax, threadMessagesMax, 1]);
  expect([...inBatches(messages)].flat()).toEqual(messages);
  expect(sizes([])).toEqual([]);
});

it("a batch holds as many bytes as the limit says; one more begins another; a message beyond it goes alone", () => {
  const half = "é".repeat((batchBytesMax / 2 - '{"text":""}'.length - 1) / 2);
  const [a, b] = [{ text: `${half}x` }, { text: `${half}y` }];
  expect(sizes([a, b])).toEqual([2]);
  expect(sizes([a, { text: `${half}yz` }])).toEqual([1, 1]);
  expect(sizes([{ text: "x".repeat(2 * batchBytesMax) }, a])).toEqual([1, 1]);
});
