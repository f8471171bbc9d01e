import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { accountShared, sharedMemory } from "./kernels.ts";

const bytes = 16 * 1024 ** 2;
const memoriesMax = 2_000;

/** Upper bound of allocations until the collector has freed one of them; their pages are never touched. */
async function madeUntilOneIsFreed(make: () => object): Promise<number> {
  let freed = 0;
  const registry = new FinalizationRegistry(() => (freed += 1));
  let made = 0;
  for (; made < memoriesMax && freed === 0; made += 1) {
    registry.register(make(), undefined);
    await turn();
  }
  return made;
}

it("R-CMP-23 unreferenced shared memory is collected before gigabytes of it accumulate", async () => {
  expect(await madeUntilOneIsFreed(() => sharedMemory(bytes).buffer)).toBeLessThan(memoriesMax);
});

it("a shared buffer from another thread is counted, too; an ordinary one is left alone", async () => {
  const received = (): object => {
    const buffer = new SharedArrayBuffer(bytes);
    accountShared(buffer);
    accountShared(buffer);
    return buffer;
  };
  expect(await madeUntilOneIsFreed(received)).toBeLessThan(memoriesMax);
  expect(() => accountShared(new ArrayBuffer(8))).not.toThrow();
});
