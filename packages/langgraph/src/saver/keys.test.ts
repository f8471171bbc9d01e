import { describe, expect, it } from "vitest";
import { checkpointId, checkpointRange, nodeId, nodeRange, tupleRange, writesId } from "./keys.ts";

const within = (id: string, { gte, lt }: { gte: string; lt: string }): boolean => id >= gte && id < lt;

describe("ids of a thread's items", () => {
  it("a checkpoint and its writes are in one range, and nothing else is", () => {
    const range = tupleRange("", "1ef-a");
    const writes = writesId("", "1ef-a", "task", "r");
    expect(
      [checkpointId("", "1ef-a"), writes, writesId("", "1ef-a", "task", "s3")].every((id) => within(id, range)),
    ).toBe(true);
    expect(
      [
        checkpointId("", "1ef-a0"),
        checkpointId("", "1ef-"),
        checkpointId("child", "1ef-a"),
        nodeId("1-a", "c", 0, "h"),
      ].some((id) => within(id, range)),
    ).toBe(false);
    expect(writes > checkpointId("", "1ef-a") && writes < checkpointId("", "1ef-b")).toBe(true);
  });

  it("namespaces do not run into each other, whatever their names", () => {
    const names = ["", "a", "a:b", "a b", "a%3a%b", "a!", "ab", "x".repeat(40), "x".repeat(41), `${"x".repeat(41)}y`];
    for (const one of names)
      for (const other of names) expect(within(checkpointId(one, "cp"), checkpointRange(other))).toBe(one === other);
    expect(checkpointId("x".repeat(40), "cp")).toContain("x".repeat(40));
    expect(checkpointId("x".repeat(41), "cp")).not.toContain("xx");
    expect(within(checkpointId("", "b"), checkpointRange("", "b"))).toBe(false);
    expect(within(checkpointId("", "a"), checkpointRange("", "b"))).toBe(true);
  });

  it("elements are in the order of their places; ids fit the part that engines order by, and have no forbidden characters", () => {
    const ids = [0, 9, 10, 999, 1_000, 123_456_789].map((start) => nodeId("1-abcdef", "messages", start, "h"));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.map((id) => within(id, nodeRange("1-abcdef", "messages", 10, 1_000)))).toEqual([
      false,
      false,
      true,
      true,
      false,
      false,
    ]);
    const odd = "ns/with\\every?odd#thing\u0000 and a lot of words that no id has room for";
    for (const id of [writesId(odd, odd, odd, "s4"), nodeId("1-abcdef", odd, 1, "h".repeat(22))]) {
      expect(id.length).toBeLessThanOrEqual(192);
      expect(id).not.toMatch(/[/\\?#\p{Cc}]/u);
    }
  });
});
