/** The six patch operations. */
import { expect } from "vitest";
import type { JsonObject } from "../../domain/json.ts";
import type { PatchStep } from "../../domain/patch.ts";
import { failure, type Suite } from "./fixture.ts";

const start: JsonObject = {
  id: "x",
  p: "a",
  n: 1,
  list: ["a", "b", "c"],
  deep: { k: { v: 1 } },
  "s/l~a": 5,
  nothing: null,
};

const good: [string, PatchStep[], JsonObject][] = [
  ["add a property", [{ op: "add", path: "/new", value: { a: 1 } }], { new: { a: 1 } }],
  ["add inserts into an array", [{ op: "add", path: "/list/1", value: "x" }], { list: ["a", "x", "b", "c"] }],
  ["add appends with -", [{ op: "add", path: "/list/-", value: "d" }], { list: ["a", "b", "c", "d"] }],
  ["add appends at the length", [{ op: "add", path: "/list/3", value: "d" }], { list: ["a", "b", "c", "d"] }],
  ["set overwrites an element", [{ op: "set", path: "/list/1", value: "x" }], { list: ["a", "x", "c"] }],
  ["set creates a property", [{ op: "set", path: "/deep/k/w", value: 2 }], { deep: { k: { v: 1, w: 2 } } }],
  ["replace an existing property", [{ op: "replace", path: "/n", value: "one" }], { n: "one" }],
  ["replace a null", [{ op: "replace", path: "/nothing", value: 1 }], { nothing: 1 }],
  ["remove an element", [{ op: "remove", path: "/list/0" }], { list: ["b", "c"] }],
  ["incr a number by a fraction", [{ op: "incr", path: "/n", value: -0.5 }], { n: 0.5 }],
  ["incr creates", [{ op: "incr", path: "/fresh", value: 3 }], { fresh: 3 }],
  ["move renames", [{ op: "move", from: "/deep/k", path: "/moved" }], { deep: {}, moved: { v: 1 } }],
  ["move within an array", [{ op: "move", from: "/list/0", path: "/list/2" }], { list: ["b", "c", "a"] }],
  ["RFC 6901 escapes", [{ op: "incr", path: "/s~1l~0a", value: 1 }], { "s/l~a": 6 }],
  [
    "steps see each other's effects",
    [
      { op: "add", path: "/o", value: {} },
      { op: "set", path: "/o/k", value: [1] },
      { op: "add", path: "/o/k/-", value: 2 },
    ],
    { o: { k: [1, 2] } },
  ],
];

const bad: [string, unknown][] = [
  ["replace of nothing", [{ op: "replace", path: "/absent", value: 1 }]],
  ["remove of nothing", [{ op: "remove", path: "/absent" }]],
  ["remove past the end of an array", [{ op: "remove", path: "/list/3" }]],
  ["add past the end of an array", [{ op: "add", path: "/list/4", value: 1 }]],
  ["an index with a leading zero", [{ op: "set", path: "/list/01", value: 1 }]],
  ["a path through nothing", [{ op: "set", path: "/no/such", value: 1 }]],
  ["a path through a number", [{ op: "set", path: "/n/x", value: 1 }]],
  ["incr of a string", [{ op: "incr", path: "/list/0", value: 1 }]],
  ["incr by a string", [{ op: "incr", path: "/n", value: "1" }]],
  [
    "incr past the largest number",
    [
      { op: "set", path: "/n", value: Number.MAX_VALUE },
      { op: "incr", path: "/n", value: Number.MAX_VALUE },
    ],
  ],
  ["move of nothing", [{ op: "move", from: "/absent", path: "/y" }]],
  ["move into itself", [{ op: "move", from: "/deep", path: "/deep/k/w" }]],
  ["the id", [{ op: "set", path: "/id", value: "y" }]],
  ["a system property", [{ op: "set", path: "/_etag", value: "y" }]],
  ["an unknown operation", [{ op: "copy", path: "/n", value: 1 }]],
  ["set without a value", [{ op: "set", path: "/n" }]],
  ["a path without a slash", [{ op: "set", path: "n", value: 1 }]],
  ["a bad escape", [{ op: "set", path: "/a~2", value: 1 }]],
  ["a NUL in the value", [{ op: "set", path: "/n", value: "a\0b" }]],
  ["a bad ttl", [{ op: "set", path: "/ttl", value: 0 }]],
  ["an empty list", []],
  ["eleven steps", Array.from({ length: 11 }, () => ({ op: "incr", path: "/n", value: 1 }))],
  ["no list at all", { op: "set" }],
];

export const patches: Suite = (fixture) => {
  fixture.test("R-AGT-56 patch: add, set, replace, remove, incr and move do what is documented", async () => {
    const c = await fixture.container();
    for (const [what, patch, expected] of good) {
      await c.put(start);
      const { document } = await c.write({ op: "patch", id: "x", patch });
      const want: Record<string, unknown> = { ...start, ...expected };
      if (patch[0]?.op === "remove" && patch[0].path === "/nothing") delete want["nothing"];
      expect(document, what).toEqual(want);
      expect(await c.read("x"), what).toEqual(want);
    }
    await c.put(start);
    expect(
      (await c.write({ op: "patch", id: "x", patch: [{ op: "remove", path: "/nothing" }] })).document,
    ).not.toHaveProperty("nothing");
    await c.write({
      op: "patch",
      id: "x",
      patch: Array.from({ length: 10 }, () => ({ op: "incr" as const, path: "/n", value: 1 })),
    });
    expect(await c.read("x")).toMatchObject({ n: 11 });
  });

  fixture.test("R-AGT-56 patch: each error case is INVALID, says where, and changes nothing", async () => {
    const c = await fixture.container();
    await c.put(start);
    for (const [what, patch] of bad) {
      const error = await failure(c.write({ op: "patch", id: "x", patch: patch as PatchStep[] }), "INVALID");
      expect(error.detail, what).not.toMatch(/undefined/);
      expect(await c.read("x"), what).toEqual(start);
    }
    await failure(c.write({ op: "patch", id: "absent", patch: [{ op: "set", path: "/n", value: 1 }] }), "NOT_FOUND");
  });
};
