import { expect, it } from "vitest";
import { ManualClock } from "../testing/item-store/fixture.ts";
import { identityLimits } from "./limits.ts";
import { Notes } from "./notes.ts";
import { RecordCache } from "./record-cache.ts";

function counted(clock = new ManualClock()) {
  const cache = new RecordCache<string>(clock);
  let reads = 0;
  const get = (id: string, value: string | undefined = id) =>
    cache.get(id, async () => {
      reads += 1;
      return value;
    });
  return { cache, clock, get, reads: () => reads };
}

it("holds 10,000 records and drops the oldest for one more", async () => {
  const { cache, get, reads } = counted();
  for (let i = 0; i <= identityLimits.cacheEntriesMax; i += 1) await get(`r${i}`);
  expect(cache.size).toBe(identityLimits.cacheEntriesMax);
  await get(`r${identityLimits.cacheEntriesMax}`);
  await get("r1");
  expect(reads()).toBe(identityLimits.cacheEntriesMax + 1);
  await get("r0");
  expect(reads()).toBe(identityLimits.cacheEntriesMax + 2);
});

it("keeps no absence, and trusts no entry from the future", async () => {
  const { cache, clock, get, reads } = counted();
  await cache.get("x", async () => undefined);
  expect(cache.size).toBe(0);
  await get("x");
  clock.advance(-1);
  await get("x");
  expect(reads()).toBe(2);
});

it("an amended record grows no younger, and one that is not there is not put there", async () => {
  const { cache, clock, get, reads } = counted();
  await get("x");
  clock.advance(identityLimits.cacheMsMax - 1);
  cache.amend("x", "newer");
  expect(await get("x")).toBe("newer");
  clock.advance(1);
  expect(await get("x")).toBe("x");
  expect(reads()).toBe(2);
  cache.forget("x");
  cache.amend("x", "back");
  expect(cache.size).toBe(0);
});

it("1,000 notes wait and not one more; a subject has one at a time", async () => {
  const lines: string[] = [];
  const notes = new Notes((line) => lines.push(line));
  const gate = Promise.withResolvers<void>();
  for (let i = 0; i < identityLimits.notesWaitingMax; i += 1)
    expect(notes.write(`n${i}`, () => gate.promise)).toBe(true);
  expect(notes.write("one more", () => gate.promise)).toBe(false);
  gate.resolve();
  await notes.idle();
  expect(notes.write("n0", () => Promise.reject(new Error("no")))).toBe(true);
  expect(notes.write("n0", async () => {})).toBe(false);
  await notes.idle();
  expect(lines).toEqual(["identity: n0 could not be noted: no"]);
});
