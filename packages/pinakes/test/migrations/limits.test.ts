/** Every limit of migrations, at the limit and one past it. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { differencesOf, type Entry } from "../../src/migrations/differences.ts";
import { readSpec } from "../../src/migrations/kinds.ts";
import { migrationLimits } from "../../src/migrations/limits.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

let names = 0;
const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

async function rowsFile(
  lines: readonly string[],
): Promise<{ readonly kind: "rows"; readonly path: string; readonly repository: string }> {
  const path = join(world.folder, `rows${(names += 1)}.jsonl`);
  await writeFile(path, lines.join("\n"));
  return { kind: "rows", path, repository: "kb" };
}
const row = (i: number, more: object = {}) => JSON.stringify({ id: `r${i}`, values: [i, 1], metadata: {}, ...more });

it("R-TG-91 unitsMax: this many units are planned, one more is refused", async () => {
  const { unitsMax } = migrationLimits;
  await using large = await World.open();
  const quiet = await large.process();
  const listing = join(world.folder, "listing.jsonl");
  const line = (_: unknown, i: number) => `{"collection":"c${i}"}`;
  const source = { kind: "unregistered", repository: "kb", listing };
  await writeFile(listing, Array.from({ length: unitsMax }, line).join("\n"));
  expect(await quiet.plan(source)).toMatchObject({ state: "planned", unit_count: unitsMax, problem_count: 0 });
  await writeFile(listing, Array.from({ length: unitsMax + 1 }, line).join("\n"));
  await expect(quiet.plan(source)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  await quiet.close();
});

it("R-TG-91 problemsMax: this many are listed, all are counted", async () => {
  const { problemsMax } = migrationLimits;
  for (const count of [problemsMax, problemsMax + 1]) {
    const plan = await process.plan(
      await rowsFile(Array.from({ length: count }, (_, i) => JSON.stringify({ id: `r${i}`, values: "none" }))),
    );
    expect(plan).toMatchObject({ problem_count: count });
    expect(plan.problems).toHaveLength(problemsMax);
    expect((await process.units(plan.migration_id))[0]?.problems).toHaveLength(problemsMax);
  }
});

it("R-TG-94 differencesMax: this many rows of each kind are named", async () => {
  const { differencesMax } = migrationLimits;
  const entries = async function* (count: number, salt = ""): AsyncGenerator<Entry> {
    for (let i = 0; i < count; i += 1) yield { key: `k${i}`, text: `${salt}${i}` };
  };
  for (const count of [differencesMax, differencesMax + 1]) {
    expect((await differencesOf(entries(count), entries(0))).missing).toHaveLength(differencesMax);
    expect((await differencesOf(entries(0), entries(count))).extra).toHaveLength(differencesMax);
    expect((await differencesOf(entries(count), entries(count, "other"))).changed).toHaveLength(differencesMax);
  }
  expect((await differencesOf(entries(differencesMax - 1), entries(0))).missing).toHaveLength(differencesMax - 1);
});

it("R-TG-96 retainDaysMax and retainDaysDefault: from 0 to the maximum, and the default", async () => {
  const { retainDaysMax, retainDaysDefault } = migrationLimits;
  const source = await rowsFile([row(1)]);
  for (const retain_days of [0, retainDaysMax])
    expect(await process.plan(source, { retain_days })).toMatchObject({ retain_days });
  expect(await process.plan(source)).toMatchObject({ retain_days: retainDaysDefault });
  for (const retain_days of [-1, retainDaysMax + 1, 1.5])
    await expect(process.migrations.create(world.admin, { source, retain_days })).rejects.toMatchObject({
      code: "INVALID",
    });
});

/** The number of steps of a copy of these rows. */
async function appends(lines: readonly string[]): Promise<number> {
  const { migration_id } = await process.plan(await rowsFile(lines));
  const before = process.calls.count("vectors.append");
  expect(await process.run(migration_id, "copy")).toMatchObject({ state: "copied" });
  return process.calls.count("vectors.append") - before;
}

it("R-TG-99 copyRowsMax: this many rows are one step, one more starts another", async () => {
  const { copyRowsMax } = migrationLimits;
  expect(await appends(Array.from({ length: copyRowsMax }, (_, i) => row(i)))).toBe(1);
  expect(await appends(Array.from({ length: copyRowsMax + 1 }, (_, i) => row(i)))).toBe(2);
});

it("R-TG-99 copyCharsMax: a step with this many characters ends, one with fewer includes one more row", async () => {
  // A row counts its numbers, eight characters each, its text, and its metadata, "{}".
  const rows = 128;
  const text = migrationLimits.copyCharsMax / rows - 2 * 8 - 2;
  const full = Array.from({ length: rows }, (_, i) => row(i, { text: "x".repeat(text) }));
  expect(await appends([...full, row(rows)])).toBe(2);
  const short = [...full.slice(0, -1), row(rows - 1, { text: "x".repeat(text - 1) })];
  expect(await appends([...short, row(rows)])).toBe(1);
});

it("R-TG-91 lineCharsMax: a line of JSON may be this long, not one character more, wherever in the file it is", async () => {
  const padded = (chars: number) => {
    const line = row(1, { pad: "" });
    return row(1, { pad: "x".repeat(chars - line.length) });
  };
  const { lineCharsMax } = migrationLimits;
  expect(padded(lineCharsMax)).toHaveLength(lineCharsMax);
  for (const rest of [[], [row(2)]]) {
    expect(await process.plan(await rowsFile([padded(lineCharsMax), ...rest]))).toMatchObject({
      state: "planned",
      problem_count: 0,
    });
    const problems = [
      {
        where: expect.stringMatching(/ line 2$/) as string,
        reason: expect.stringMatching(/^is longer than .* The lines after it were not read\.$/) as string,
      },
    ];
    const long = await process.plan(await rowsFile([row(3), padded(lineCharsMax + 1), ...rest]));
    expect(long).toMatchObject({ state: "planned", problem_count: 1, problems, row_count: 1 });
  }
});

it("R-TG-91 lineCharsMax: so may a record of a CSV table", async () => {
  const { lineCharsMax } = migrationLimits;
  const planned = async (chars: number) => {
    const csv = join(world.folder, `csv${(names += 1)}`);
    await mkdir(csv);
    const key = ["http://x/s", "http://x/p"];
    await writeFile(
      join(csv, "t.csv"),
      `s,p,o,note\n${key.join(",")},o,${"x".repeat(chars - key.join("").length - "o".length)}\n`,
    );
    return process.plan({
      kind: "triples",
      csv,
      repository: "kb",
      objects: "literal",
      ignore_columns: ["note"],
      tables: { t: { collection: `t${names}` } },
    });
  };
  expect(await planned(lineCharsMax)).toMatchObject({ problem_count: 0, row_count: 1 });
  await expect(planned(lineCharsMax + 1)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
});

it("R-TG-91 sourceCharsMax: the description of a source may be this long", () => {
  const { sourceCharsMax } = migrationLimits;
  const source = (chars: number) => {
    const spec = { kind: "rows", path: "x", repository: "kb" };
    return { ...spec, path: "x".repeat(chars - JSON.stringify(spec).length + 1) };
  };
  expect(JSON.stringify(source(sourceCharsMax))).toHaveLength(sourceCharsMax);
  expect(readSpec(source(sourceCharsMax))).toMatchObject({ kind: "rows" });
  expect(() => readSpec(source(sourceCharsMax + 1))).toThrow(/more than 16384 characters/);
});

it("R-TG-99 leaseMs: a dead process keeps the work this long, and not a millisecond longer", async () => {
  const source = await rowsFile([row(1)]);
  const other = await world.process();
  const { migration_id } = await other.migrations.create(world.admin, { source });
  other.calls.add({ at: (name) => name.startsWith("items.batch"), kind: "crash-before" });
  void other.drive(migration_id).catch(() => {});
  await other.calls.died;
  world.now += migrationLimits.leaseMs - 1;
  await expect(process.drive(migration_id)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  world.now += 1;
  expect(await process.drive(migration_id)).toMatchObject({ state: "planned" });
});

it("R-TG-99 retryMs: after a failure the background waits this long", async () => {
  // A separate world: the background retries everything that has failed.
  await using alone = await World.open();
  const quiet = await alone.process();
  const other = await alone.process();
  const { migration_id } = await other.migrations.create(alone.admin, { source: await rowsFile([row(1)]) });
  other.calls.add({ at: (name) => name.startsWith("items.batch"), kind: "error-before" });
  await expect(other.drive(migration_id)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const { signal } = new AbortController();
  alone.now += migrationLimits.retryMs - 1;
  await quiet.migrations.tick(signal);
  expect(await quiet.migrations.get(alone.admin, migration_id)).toMatchObject({ state: "planning" });
  alone.now += 1;
  await quiet.migrations.tick(signal);
  expect(await quiet.migrations.get(alone.admin, migration_id)).toMatchObject({ state: "planned", error: null });
  await other.close();
  await quiet.close();
});

it("R-TG-104 pageItemsMax: a page of migrations, and of units, may be this long", async () => {
  const { pageItemsMax } = migrationLimits;
  const { migration_id } = await process.plan(await rowsFile([row(1)]));
  for (const limit of [1, pageItemsMax]) {
    expect((await process.migrations.list(world.admin, { limit })).items.length).toBeGreaterThan(0);
    expect((await process.migrations.units(world.admin, migration_id, { limit })).items).toHaveLength(1);
  }
  for (const limit of [0, pageItemsMax + 1]) {
    await expect(process.migrations.list(world.admin, { limit })).rejects.toMatchObject({ code: "INVALID" });
    await expect(process.migrations.units(world.admin, migration_id, { limit })).rejects.toMatchObject({
      code: "INVALID",
    });
  }
});
