/** Exports of vector stores, and collections without a record, become collections. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { migrationLimits } from "../../src/migrations/limits.ts";
import { parquetFile } from "./support/parquet-file.ts";
import { World } from "./support/world.ts";
import { forAllTests } from "../support/for-tests.ts";

const world = forAllTests(() => World.open());
const process = forAllTests(() => world.process());

async function jsonl(name: string, rows: readonly unknown[]): Promise<string> {
  const path = join(world.folder, name);
  await writeFile(path, rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n"));
  return path;
}
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: `r${i}`,
    values: [i / 7, 1 - i / 3, 0.1],
    metadata: { n: i, tags: ["a", `t${i % 3}`], body: `text ${i}` },
  }));
const source = (path: string, more: object = {}) => ({ kind: "rows", path, repository: "kb", ...more });

describe("files of rows", () => {
  it("R-TG-94 JSON Lines as exported by Pinecone: equal hash, vectors, text and metadata found by searches", async () => {
    const path = await jsonl("papers.jsonl", rowsOf(5_001));
    const plan = await process.plan(source(path, { text_field: "body" }));
    expect(plan).toMatchObject({ problem_count: 0, row_count: 5_001 });
    expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
    const [unit] = await process.units(plan.migration_id);
    expect(unit).toMatchObject({
      count: 5_001,
      held_count: 5_001,
      held_hash: unit?.hash,
      target: { repository: "kb", collection: "papers" },
    });
    const { hits } = await process.knowledge.rows.query(world.admin, "kb", "papers", {
      vector: [1, -4 / 3, 0.1],
      limit: 1,
      filter: { n: 7 },
    });
    expect(hits[0]).toMatchObject({ id: "r7", text: "text 7", metadata: { n: 7, tags: ["a", "t1"] } });
    // Again: nothing to do.
    const again = await process.plan(source(path, { text_field: "body" }));
    expect((await process.units(again.migration_id))[0]).toMatchObject({ status: "already" });
    // Read with another rule it differs, and is a problem.
    expect((await process.plan(source(path))).problems[0]?.reason).toContain("5001 other rows");
  });

  it("Parquet gives the same as JSON Lines", async () => {
    const rows = rowsOf(40);
    const folder = join(world.folder, "both");
    await mkdir(folder);
    await writeFile(
      join(folder, "a.parquet"),
      parquetFile(rows.map(({ id, values, metadata }) => ({ id, values, metadata: JSON.stringify(metadata) }))),
    );
    await writeFile(join(folder, "b.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
    await writeFile(join(folder, "readme.txt"), "not read");
    const plan = await process.plan(source(folder));
    expect(plan.problems).toEqual([]);
    const [a, b] = await process.units(plan.migration_id);
    expect(a).toMatchObject({ name: "a.parquet", count: 40, hash: b?.hash });
    expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
    const { hits } = await process.knowledge.rows.query(world.admin, "kb", "a", { vector: [1, 1, 1], limit: 40 });
    expect(hits).toHaveLength(40);
  });

  it("reports a vector of another dimension, a duplicate id, and what cannot be stored, each with its line", async () => {
    const path = await jsonl("bad.jsonl", [
      { id: "a", values: [1, 2, 3] },
      { id: "b", values: [1, 2] },
      { id: "a", values: [1, 2, 3] },
      { id: "", values: [1, 2, 3] },
      { id: "c", values: [1, 2, "3"] },
      { id: "d", values: [1, 2, 3], sparse_values: { indices: [1], values: [0.5] } },
      { id: "e", values: [1, 2, 3], metadata: ["no object"] },
      { id: "f", values: [1, 2, 3], metadata: { body: 7 } },
    ]);
    const plan = await process.plan(source(path, { text_field: "body" }));
    expect(plan.problem_count).toBe(7);
    expect(plan.problems.map(({ where, reason }) => `${where}: ${reason}`)).toEqual([
      "bad.jsonl line 2: values: has 2 numbers; the previous rows have 3.",
      'bad.jsonl line 3: duplicate id "a", first at bad.jsonl line 1; an id names one row.',
      expect.stringMatching(/^bad.jsonl line 4: id: must be a string/),
      expect.stringMatching(/^bad.jsonl line 5: values\[2\]: must be a number/),
      expect.stringMatching(/^bad.jsonl line 6: sparse_values: cannot be stored/),
      expect.stringMatching(/^bad.jsonl line 7: metadata: must be an object/),
      expect.stringMatching(/^bad.jsonl line 8: text: must be a string, got 7/),
    ]);
    await expect(process.migrations.copy(world.admin, plan.migration_id)).rejects.toMatchObject({ code: "INVALID" });
  });

  it("refuses invalid files", async () => {
    const make = (path: string, more: object = {}) =>
      process.migrations.create(world.admin, { source: source(path, more) });
    await expect(make(join(world.folder, "nowhere.jsonl"))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(make(await jsonl("rows.txt", []))).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("ends neither"),
    });
    await expect(make(await jsonl("x.jsonl", []), { user: "ann" })).rejects.toMatchObject({
      code: "INVALID",
      message: expect.stringContaining("one of"),
    });
  });

  it("R-TG-91 a line that is not JSON is a problem of the plan with its number, like every invalid line, and can be fixed and planned again", async () => {
    const good = '{"id":"a","values":[1,2]}';
    const path = await jsonl("broken.jsonl", [
      good,
      '{"id":"b","values":[1]}',
      '{"id":',
      "",
      "[1,2]",
      '{"id":"c","values":[3,4]}',
      "null",
    ]);
    const plan = await process.plan(source(path));
    expect(plan).toMatchObject({ state: "planned", error: null, problem_count: 4, row_count: 2 });
    expect(plan.problems).toEqual([
      { where: "broken.jsonl line 2", reason: "values: has 1 numbers; the previous rows have 2." },
      { where: "broken.jsonl line 3", reason: expect.stringMatching(/^is not JSON: .*\.$/) as string },
      { where: "broken.jsonl line 5", reason: "must be an object." },
      { where: "broken.jsonl line 7", reason: "must be an object." },
    ]);
    await expect(process.migrations.copy(world.admin, plan.migration_id)).rejects.toMatchObject({ code: "INVALID" });
    await jsonl("broken.jsonl", [good]);
    await process.migrations.plan(world.admin, plan.migration_id);
    expect(await process.drive(plan.migration_id)).toMatchObject({ state: "planned", problem_count: 0, row_count: 1 });
    // Broken again after the plan: nothing more is copied, and a rollback is possible.
    await jsonl("broken.jsonl", [good, '{"id":']);
    await process.migrations.copy(world.admin, plan.migration_id);
    await expect(process.drive(plan.migration_id)).rejects.toMatchObject({
      code: "INVALID",
      detail: expect.stringContaining("broken.jsonl line 2: is not JSON"),
    });
    expect(await process.run(plan.migration_id, "rollback")).toMatchObject({ state: "rolled_back" });
  });

  it("R-TG-91 the limit of listed problems applies to lines that are not JSON, too, and all are counted", async () => {
    const { problemsMax } = migrationLimits;
    for (const [count, kept] of [
      [problemsMax, problemsMax],
      [problemsMax + 1, problemsMax],
    ] as const) {
      const plan = await process.plan(
        source(
          await jsonl(
            `broken-${count}.jsonl`,
            Array.from({ length: count }, () => "{"),
          ),
        ),
      );
      expect(plan).toMatchObject({ state: "planned", problem_count: count });
      expect(plan.problems.map(({ where }) => where)).toEqual(
        Array.from({ length: kept }, (_, i) => `broken-${count}.jsonl line ${i + 1}`),
      );
    }
  });

  it("R-TG-91 an invalid Parquet file, and a row with metadata that is not JSON, are problems of the plan", async () => {
    await writeFile(join(world.folder, "bad.parquet"), "this is no parquet file, but long enough to look at");
    const file = parquetFile([
      { id: "a", values: [1, 2], metadata: "{}" },
      { id: "b", values: [1, 2], metadata: "{" },
    ]);
    await writeFile(join(world.folder, "metadata.parquet"), file);
    const bad = await process.plan(source(join(world.folder, "bad.parquet")));
    expect(bad).toMatchObject({ state: "planned", problem_count: 1, row_count: 0 });
    expect(bad.problems).toEqual([
      { where: "bad.parquet", reason: expect.stringMatching(/^is not a readable Parquet file: /) as string },
    ]);
    const metadata = await process.plan(source(join(world.folder, "metadata.parquet")));
    expect(metadata).toMatchObject({ state: "planned", problem_count: 1, row_count: 1 });
    expect(metadata.problems).toEqual([
      { where: "metadata.parquet row 2", reason: expect.stringMatching(/^metadata is not JSON: /) as string },
    ]);
  });

  it("R-TG-97 a rollback removes the rows from an existing collection, and that one stays", async () => {
    const path = await jsonl("there.jsonl", rowsOf(30));
    await process.knowledge.collections.create(world.admin, "kb", { collection_id: "there", description: "mine" });
    const { migration_id } = await process.plan(source(path));
    await process.run(migration_id, "copy", "validate", "cutover", "rollback");
    expect(await process.knowledge.collections.get(world.admin, "kb", "there")).toMatchObject({
      description: "mine",
      status: "ACTIVE",
    });
    expect(
      (await process.knowledge.rows.query(world.admin, "kb", "there", { vector: [1, 1, 1], limit: 30 })).hits,
    ).toEqual([]);
  });
});

describe("collections without a record", () => {
  it("R-TG-92 R-TG-93 unregistered spaces and vector collections get a record with defaults, and keep their data", async () => {
    const { scope } = world.admin;
    await world.triples.open(scope, "old-graph");
    await world.triples.write(scope, "old-graph", {
      insert: [{ s: "<http://x/a>", p: "<http://x/b>", o: '"c"', g: "" }],
    });
    await world.vectors.vectors.create(scope, "old-vectors", { dims: 3 });
    await world.vectors.vectors.append(scope, "old-vectors", {
      upsert: rowsOf(1_200).map(({ id, values }) => ({ id, vector: values, metadata: { id } })),
    });
    const madeAt = new Date(world.now).toISOString();
    world.now += 86_400_000;
    const plan = await process.plan({ kind: "unregistered", repository: "kb" });
    expect((await process.units(plan.migration_id)).map(({ name, count, status }) => [name, count, status])).toEqual([
      ["old-graph", 1, "planned"],
      ["old-vectors", 1_200, "planned"],
    ]);
    expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({ state: "switched" });
    const graph = await process.knowledge.collections.get(world.admin, "kb", "old-graph");
    expect(graph).toMatchObject({
      name: "old-graph",
      description: "",
      incarnation: "old-graph",
      created_at_estimated: true,
      metadata: { tags: [] },
    });
    expect((await process.knowledge.graph.matchTriples(world.admin, "kb", "old-graph")).items).toHaveLength(1);
    const vectors = await process.knowledge.collections.get(world.admin, "kb", "old-vectors");
    expect(vectors).toMatchObject({ created_at: madeAt });
    expect(vectors).not.toHaveProperty("created_at_estimated");
    expect(
      (await process.knowledge.rows.query(world.admin, "kb", "old-vectors", { vector: [1, 1, 1], limit: 1_000 })).hits,
    ).toHaveLength(1_000);
    // R-TG-99: again it is a no-op.
    const again = await process.plan({ kind: "unregistered", repository: "kb" });
    expect((await process.units(again.migration_id)).map(({ status }) => status)).toEqual(["already", "already"]);
    // The rollback removes only the record of what was registered in place.
    await process.run(plan.migration_id, "rollback");
    await expect(
      process.knowledge.collections.get(world.admin, "kb", "old-graph", { deleted: true }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await world.triples.usage(scope, "old-graph")).quads).toBe(1);
  });

  it("R-TG-92 R-TG-93 a listing of another program", async () => {
    const listing = await jsonl("listing.jsonl", [
      { collection: "first", created_at: "2020-02-03T04:05:06Z", description: "of old" },
      { collection: "second", user: "ann" },
    ]);
    const plan = await process.plan({ kind: "unregistered", repository: "kb", listing });
    expect(await process.run(plan.migration_id, "copy", "validate", "cutover")).toMatchObject({
      state: "switched",
      unit_count: 2,
    });
    expect(await process.knowledge.collections.get(world.admin, "kb", "first")).toMatchObject({
      created_at: "2020-02-03T04:05:06.000Z",
      description: "of old",
      name: "first",
    });
    expect(await process.knowledge.collections.list(world.admin, { limit: 100 })).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ collection_id: "second", created_at_estimated: true })]),
    });
    const bad = await process.plan({
      kind: "unregistered",
      repository: "kb",
      listing: await jsonl("bad-listing.jsonl", [{ collection: "a", created_at: "soon" }, { collection: "b/c" }]),
    });
    expect(bad.problems).toEqual([
      { where: "line 1", reason: expect.stringContaining("is not a time") },
      { where: "line 2", reason: expect.stringContaining("an id has") },
    ]);
  });
});
