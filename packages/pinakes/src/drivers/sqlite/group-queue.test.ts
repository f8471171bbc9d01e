import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { GroupQueue } from "./group-queue.ts";

function sizes(groupSizeMax: number): { readonly groups: (readonly number[])[]; readonly queue: GroupQueue<number> } {
  const groups: (readonly number[])[] = [];
  return {
    groups,
    queue: new GroupQueue<number>({ sizeOf: (size) => size, groupSizeMax, commit: (group) => void groups.push(group) }),
  };
}

it("commits what arrived in one turn as one group, in order, and nothing if nothing arrived", async () => {
  const { groups, queue } = sizes(100);
  queue.wake();
  await turn();
  expect(groups).toEqual([]);
  for (const size of [1, 2, 3]) queue.add(size);
  expect(groups).toEqual([]);
  await turn();
  expect(groups).toEqual([[1, 2, 3]]);
});

it("a group ends with the request that reaches the bound; one that exceeds it alone goes alone", () => {
  const { groups, queue } = sizes(10);
  for (const size of [4, 5, 1, 4, 5, 2, 11, 3]) queue.add(size);
  queue.drain();
  expect(groups).toEqual([[4, 5, 1], [4, 5, 2], [11], [3]]);
});

it("drain commits at once; the turn that was scheduled before finds nothing", async () => {
  const { groups, queue } = sizes(10);
  queue.add(1);
  queue.drain();
  expect(groups).toEqual([[1]]);
  await turn();
  expect(groups).toEqual([[1]]);
});

it("does other work after each group, and continues while there is some", async () => {
  const done: string[] = [];
  let steps = 3;
  const between = (): boolean => {
    done.push(`step ${steps}`);
    steps -= 1;
    return steps > 0;
  };
  const queue = new GroupQueue<string>({
    sizeOf: () => 1,
    groupSizeMax: 1,
    commit: (group) => void done.push(...group),
    between,
  });
  queue.add("a");
  queue.add("b");
  for (let turns = 0; turns < 6; turns += 1) await turn();
  expect(done).toEqual(["a", "step 3", "b", "step 2", "step 1"]);
});
