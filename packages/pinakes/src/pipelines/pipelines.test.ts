import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../../test/support/until.ts";
import { open } from "../open.ts";
import { failure } from "../testing/object-store/fixture.ts";
import { systemChunking } from "../knowledge/chunking/index.ts";
import { knowledgeLimits } from "../knowledge/limits.ts";
import { pipelineLimits } from "./limits.ts";
import { admin, Bench, closeShared, stranger, user } from "./test-pipelines.ts";

afterAll(closeShared);

describe("pipelines of a collection", () => {
  it("R-LISA-21 a pipeline is stored with its collection and read back, with its next run", async () => {
    await using bench = await Bench.open();
    const source = `file:${bench.folder}`;
    const created = await bench.knowledge.pipelines.create(admin, "r", "c", {
      trigger: "schedule",
      source: `file://${bench.folder}/`,
      schedule: "daily",
    });
    expect(created).toMatchObject({
      trigger: "schedule",
      source,
      schedule: "0 2 * * *",
      auto_remove: false,
      chunking_strategy: null,
      max_removal_share: 0.5,
    });
    expect(created.next_run_at).toMatch(/T02:00:00\.000Z$/);
    expect((await bench.knowledge.pipelines.list(admin, "r", "c")).items).toEqual([created]);
    const { next_run_at: _, ...stored } = created;
    expect((await bench.knowledge.collections.get(admin, "r", "c")).pipelines).toEqual([stored]);
  });

  it("R-LISA-45 10 pipelines are accepted, 11 refused", async () => {
    await using bench = await Bench.open();
    for (let i = 0; i <= knowledgeLimits.pipelinesMax; i += 1) await mkdir(join(bench.folder, String(i)));
    for (let i = 0; i < knowledgeLimits.pipelinesMax; i += 1)
      await bench.pipeline({ source: `file:${bench.folder}/${i}` });
    const { detail } = await failure(
      bench.pipeline({ source: `file:${bench.folder}/${knowledgeLimits.pipelinesMax}` }),
      "LIMIT_EXCEEDED",
    );
    expect(detail).toContain("10 pipelines");
    const [first] = (await bench.knowledge.pipelines.list(admin, "r", "c")).items;
    await bench.knowledge.pipelines.delete(admin, "r", "c", first?.pipeline_id as string);
    await bench.pipeline({ source: `file:${bench.folder}/${knowledgeLimits.pipelinesMax}` });
  });

  it("R-LISA-45 eleven concurrent creates: exactly ten succeed", async () => {
    await using bench = await Bench.open();
    const folders = Array.from({ length: 11 }, (_, i) => join(bench.folder, String(i)));
    await Promise.all(folders.map((folder) => mkdir(folder)));
    const created = await Promise.allSettled(folders.map((folder) => bench.pipeline({ source: `file:${folder}` })));
    expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect((await bench.knowledge.pipelines.list(admin, "r", "c")).items).toHaveLength(10);
  });

  it("R-LISA-62 chunking comes from the first pipeline if the collection has none, and a pipeline's own documents use its own", async () => {
    await using bench = await Bench.open();
    bench.background((signal) => bench.opened.work(signal));
    await bench.write({ "one/a.txt": "words ".repeat(100), "two/b.txt": "words ".repeat(100) });
    await bench.knowledge.collections.update(admin, "r", "c", { allow_chunking_override: false });
    expect((await bench.knowledge.collections.get(admin, "r", "c")).chunking_strategy).toEqual(systemChunking);
    const small = { type: "FIXED", chunk_size: 100, chunk_overlap: 0 };
    const other = { type: "FIXED", chunk_size: 200, chunk_overlap: 0 };
    const first = await bench.pipeline({ source: `file:${bench.folder}/one`, chunking_strategy: small });
    const second = await bench.pipeline({ source: `file:${bench.folder}/two`, chunking_strategy: other });
    expect((await bench.knowledge.collections.get(admin, "r", "c")).chunking_strategy).toMatchObject(small);
    await bench.run(first);
    await bench.run(second);
    await until(async () => (await bench.documents()).every(({ status }) => status === "indexed"));
    const cut = (await bench.documents()).map(({ name, chunking_strategy }) => [
      name,
      chunking_strategy?.type,
      (chunking_strategy as { chunk_size?: number }).chunk_size,
    ]);
    expect(cut.toSorted()).toEqual([
      ["a.txt", "FIXED", 100],
      ["b.txt", "FIXED", 200],
    ]);
  });

  it("R-LISA-81 bucket, prefix, trigger and the rest of a pipeline are immutable, also by an update of the collection", async () => {
    await using bench = await Bench.open();
    await bench.pipeline();
    const { pipelines } = await bench.knowledge.collections.get(admin, "r", "c");
    const changed = pipelines.map((pipeline) => ({ ...pipeline, auto_remove: true }));
    await failure(bench.knowledge.collections.update(admin, "r", "c", { pipelines: changed } as never), "INVALID");
    expect((await bench.knowledge.collections.get(admin, "r", "c")).pipelines).toEqual(pipelines);
  });

  it("the input for a pipeline is validated, and the error says what to write", async () => {
    await using bench = await Bench.open();
    await mkdir(join(bench.folder, "sub"));
    const refused = async (
      input: object,
      says: string | RegExp,
      code: "INVALID" | "FORBIDDEN" | "CONFLICT" = "INVALID",
    ) => expect((await failure(bench.pipeline(input), code)).detail).toMatch(says);
    await refused({ trigger: "daily" }, "trigger: must be event or schedule");
    await refused({ trigger: "event", schedule: "daily" }, "schedule: not allowed with the trigger event");
    await refused({ schedule: "61 * * * *" }, "schedule: write five cron fields");
    await refused({ schedule: "* * * * * *" }, "schedule: write five cron fields");
    await refused({ schedule: "0 0 31 2 *" }, "never occurs");
    await refused({ schedule: "0".repeat(pipelineLimits.scheduleCharsMax + 1) }, "schedule: write five cron fields");
    await refused({ auto_remove: "yes" }, "auto_remove: must be true or false");
    await refused({ max_removal_share: 1.01 }, "max_removal_share: must be a number from 0 to 1");
    await refused({ chunking_strategy: { type: "NO" } }, "chunking_strategy");
    await refused({ colour: "red" }, "colour: is not a field of a new pipeline");
    await refused({ source: "ftp://x" }, "source: write file:/folder or s3://bucket/prefix");
    await refused({ source: `file:${"/x".repeat(knowledgeLimits.sourceCharsMax / 2)}` }, "more than 1024 characters");
    await refused({ source: `file:${bench.folder}/not-there` }, "cannot be read (ENOENT)");
    await bench.pipeline({ source: `file:${bench.folder}/sub`, schedule: "30 4 * * 1-5", max_removal_share: 1 });
    await refused({}, "overlaps", "CONFLICT");
    await refused({ source: `file:${bench.folder}/sub` }, "overlaps", "CONFLICT");
  });

  it("a source may be as long as the limit", async () => {
    await using bench = await Bench.open();
    const room = knowledgeLimits.sourceCharsMax - `file:${bench.folder}`.length;
    const parts = Array.from({ length: Math.floor(room / 200) }, () => `/${"d".repeat(199)}`).join("");
    const path = `${bench.folder}${parts}`;
    const rest = knowledgeLimits.sourceCharsMax - `file:${path}`.length;
    const whole = rest > 1 ? `${path}/${"e".repeat(rest - 1)}` : path;
    await mkdir(`${whole}f`, { recursive: true });
    await mkdir(whole, { recursive: true });
    await bench.pipeline({ trigger: "event", source: `file:${whole}` });
    await failure(bench.pipeline({ trigger: "event", source: `file:${whole}f` }), "INVALID");
    expect((await bench.knowledge.pipelines.list(admin, "r", "c")).items[0]?.source).toHaveLength(
      knowledgeLimits.sourceCharsMax,
    );
  });

  it("only folders that the operator allowed: not others, not by .., not by a link, and not one that becomes a link later", async () => {
    await using bench = await Bench.open();
    const outside = join(bench.folder, "..", "secret");
    await mkdir(outside);
    await bench.write({ "../secret/key.txt": "secret", "in/a.txt": "a" });
    for (const source of ["/etc", outside.replace("/open/..", ""), `${bench.folder}-not`, "/"])
      expect((await failure(bench.pipeline({ source: `file:${source}` }), "FORBIDDEN")).detail).toContain(
        "has not allowed",
      );
    expect((await failure(bench.pipeline({ source: `file:${bench.folder}/../secret` }), "INVALID")).detail).toContain(
      'without "." and ".."',
    );
    await symlink(outside, join(bench.folder, "link"));
    expect((await failure(bench.pipeline({ source: `file:${bench.folder}/link` }), "FORBIDDEN")).detail).toContain(
      "resolves to a path",
    );
    expect((await failure(bench.pipeline({ source: "s3://any-bucket/x" }), "FORBIDDEN")).detail).toContain(
      "has not allowed",
    );
    const id = await bench.pipeline({ source: `file:${bench.folder}/in`, auto_remove: true });
    await bench.run(id);
    await rm(join(bench.folder, "in"), { recursive: true });
    await symlink(outside, join(bench.folder, "in"));
    expect(await bench.run(id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("has not allowed for pipelines"),
    });
    await failure(bench.knowledge.pipelines.plan(admin, "r", "c", id), "FORBIDDEN");
    expect(await bench.uris()).toEqual([bench.uri("in/a.txt")]);
  });

  it("a folder that is allowed for some workspaces is closed to the others", async () => {
    await using bench = await Bench.open();
    const other = await bench.another({ pipelineFolders: [{ path: bench.folder, tenants: ["other"] }] });
    await failure(
      other.knowledge.pipelines.create(admin, "r", "c", { trigger: "event", source: `file:${bench.folder}` }),
      "FORBIDDEN",
    );
    await other.knowledge.repositories.create(stranger, { repository_id: "r", name: "r" });
    await other.knowledge.collections.create(stranger, "r", { collection_id: "c", name: "c" });
    await other.knowledge.pipelines.create(stranger, "r", "c", { trigger: "schedule", source: `file:${bench.folder}` });
  });

  it("another workspace, and callers who may not see the collection, get NOT_FOUND for everything; callers who may only write get FORBIDDEN", async () => {
    await using bench = await Bench.open();
    const id = await bench.pipeline();
    const { knowledge } = bench;
    const calls = (caller: typeof admin) => [
      () => knowledge.pipelines.create(caller, "r", "c", { trigger: "schedule", source: `file:${bench.folder}` }),
      () => knowledge.pipelines.plan(caller, "r", "c", id),
      () => knowledge.pipelines.run(caller, "r", "c", id),
      () => knowledge.pipelines.delete(caller, "r", "c", id),
    ];
    for (const call of calls(stranger)) await failure(call(), "NOT_FOUND");
    await failure(knowledge.pipelines.list(stranger, "r", "c"), "NOT_FOUND");
    await failure(knowledge.pipelines.notify(stranger, "r", "c", id, {}), "NOT_FOUND");
    for (const call of calls(user)) await failure(call(), "FORBIDDEN");
    expect((await knowledge.pipelines.list(user, "r", "c")).items).toHaveLength(1);
    await knowledge.collections.update(admin, "r", "c", { private: true });
    for (const call of calls(user)) await failure(call(), "NOT_FOUND");
    for (const call of [
      () => knowledge.pipelines.plan(admin, "r", "c", "no"),
      () => knowledge.pipelines.delete(admin, "r", "c", "no"),
    ])
      await failure(call(), "NOT_FOUND");
  });

  it("open() takes the folders from its options, and watches them", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "The heron stands in the reeds." });
    await using pinakes = await open({ dir: join(bench.folder, "..", "data"), pipelineFolders: [bench.folder] });
    const { knowledge } = pinakes;
    await knowledge.repositories.create(admin, { repository_id: "r", name: "r" });
    await knowledge.collections.create(admin, "r", { collection_id: "c", name: "c" });
    await knowledge.pipelines.create(admin, "r", "c", { trigger: "event", source: `file:${bench.folder}` });
    await until(async () => (await knowledge.collections.get(admin, "r", "c")).documents_by_status.indexed === 1);
    await bench.write({ "b.txt": "Otters swim at dusk." });
    await until(async () => (await knowledge.collections.get(admin, "r", "c")).documents_by_status.indexed === 2);
  });
});
