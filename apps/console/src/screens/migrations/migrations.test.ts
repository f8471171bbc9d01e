import { describe, expect, it } from "vitest";
import { migrationStates, migrationSteps } from "@pinakes/client";
import { begin } from "../../../../../packages/pinakes/src/migrations/records.ts";
import { readMigration } from "./new-migration.tsx";
import { mayStep, placesOf } from "./steps.ts";

describe("steps", () => {
  it("a button can be pressed exactly where the server begins the step", () => {
    for (const state of migrationStates)
      for (const step of migrationSteps)
        expect([state, step, mayStep({ state, problem_count: 0, error: null }, step)]).toEqual([
          state,
          step,
          begins(state, step),
        ]);
  });

  it("a plan with problems is not copied, and a rollback that was refused can be asked for again", () => {
    expect(mayStep({ state: "planned", problem_count: 1, error: null }, "copy")).toBe(false);
    expect(mayStep({ state: "rolling_back", problem_count: 0, error: "was written to since" }, "rollback")).toBe(true);
  });

  it("the course says what is done, what is under way and what is to come", () => {
    expect(placesOf("copying")).toEqual(["done", "now", "next", "next", "next"]);
    expect(placesOf("finished")).toEqual(["done", "done", "done", "done", "done"]);
    expect(placesOf("rolled_back")).toBeUndefined();
  });
});

function begins(state: (typeof migrationStates)[number], step: (typeof migrationSteps)[number]): boolean {
  try {
    return begin(step, state) !== undefined;
  } catch {
    return false;
  }
}

describe("the form", () => {
  const values = { kind: "rows", fields: {}, more: "", retainDays: "", auto: false } as const;

  it("leaves out what is empty, and puts a field inside another where it belongs", () => {
    const fields = {
      repository: "kb",
      collection: "old",
      "to.collection": " new ",
      "to.repository": "",
      allow_partial: false,
      path: "of another kind",
    };
    expect(readMigration({ ...values, kind: "collection", fields, retainDays: "9", auto: true }).input).toEqual({
      source: { kind: "collection", repository: "kb", collection: "old", to: { collection: "new" } },
      auto: true,
    });
  });

  it("more fields count more than those of the form", () => {
    const read = readMigration({
      ...values,
      fields: { path: "/a", lossy: true },
      more: '{"path":"/b"}',
      retainDays: "9",
    });
    expect(read.input).toEqual({ source: { kind: "rows", path: "/b", lossy: true }, retain_days: 9 });
  });

  it.each([
    ["no JSON", { more: "{" }, "more"],
    ["a list", { more: "[1]" }, "more"],
    ["null", { more: "null" }, "more"],
    ["half a day", { retainDays: "1.5" }, "retainDays"],
    ["a word", { retainDays: "long" }, "retainDays"],
  ])("%s is told, and nothing is sent", (_, wrong, at) => {
    const read = readMigration({ ...values, ...wrong });
    expect(read.input).toBeUndefined();
    expect(Object.keys(read.errors)).toEqual([at]);
  });
});
