import { mkdir, rename, rm, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../../test/support/until.ts";
import { systemScope } from "../domain/scope.ts";
import { failure } from "../testing/object-store/fixture.ts";
import { pipelineLimits } from "./limits.ts";
import { PipelineRegistry } from "./pipeline-registry.ts";
import type { RunResult } from "./run-pipeline.ts";
import { admin, Bench, closeShared } from "./test-pipelines.ts";

afterAll(closeShared);

describe("runs of a pipeline on a folder", () => {
  it("R-LISA-21 U9 files become documents of the pipeline and its collection, are searchable, are replaced when they change, and removed when deleted", async () => {
    await using bench = await Bench.open();
    bench.background((signal) => bench.opened.work(signal));
    await bench.write({ "a.txt": "The heron stands in the reeds.", "sub/b.md": "# Otters\n\nOtters swim at dusk." });
    const id = await bench.pipeline({ auto_remove: true });

    const plan = await bench.knowledge.pipelines.plan(admin, "r", "c", id);
    expect(plan).toMatchObject({ counts: { add: 2, replace: 0, remove: 0, unchanged: 0, skipped: 0 }, blocked: null });
    expect(plan.add.toSorted()).toEqual([bench.uri("a.txt"), bench.uri("sub/b.md")]);
    expect(await bench.documents()).toEqual([]);

    const first = await bench.run(id);
    expect(first).toMatchObject({
      status: "succeeded",
      kind: "pipeline",
      result: { added: 2, replaced: 0, removed: 0, failed: 0 },
    });
    const indexed = () => until(async () => (await bench.documents()).every(({ status }) => status === "indexed"));
    await indexed();
    const [document] = await bench.documents();
    expect(document).toMatchObject({
      collection_id: "c",
      repository_id: "r",
      uploaded_by: "ada",
      job_id: first.job_id,
    });
    expect(document?.source).toMatchObject({
      type: "auto",
      pipeline_id: id,
      uri: document?.name === "a.txt" ? bench.uri("a.txt") : bench.uri("sub/b.md"),
    });
    const found = await bench.knowledge.search.run(admin, {
      query: "which bird stands in the reeds",
      collections: [{ repository: "r", collection: "c" }],
      limit: 1,
    });
    expect(JSON.stringify(found)).toContain("heron");

    const before = new Map((await bench.documents()).map(({ name, document_id }) => [name, document_id]));
    await bench.write({ "a.txt": "The bittern booms in the reeds, and the heron is gone." });
    await rm(join(bench.folder, "sub/b.md"));
    expect((await bench.run(id)).result).toMatchObject({ added: 0, replaced: 1, removed: 1, unchanged: 0, failed: 0 });
    await indexed();
    const after = await bench.documents();
    expect(after).toMatchObject([{ name: "a.txt", version: 2, live_version: 2, document_id: before.get("a.txt") }]);
    expect((await bench.knowledge.collections.get(admin, "r", "c")).document_count).toBe(1);
  });

  it("R-LISA-77 while a file is replaced every search sees the old chunks or the new ones, never both or none", async () => {
    await using bench = await Bench.open();
    bench.background((signal) => bench.opened.work(signal));
    await bench.write({ "a.txt": "The heron stands in the old reeds." });
    const id = await bench.pipeline();
    await bench.run(id);
    await until(async () => (await bench.documents())[0]?.status === "indexed");
    await bench.write({ "a.txt": "The heron stands in the new and higher reeds." });
    const running = bench.run(id);
    const seen = new Set<string>();
    for (let last = false; ;) {
      const { hits } = await bench.knowledge.search.run(admin, {
        query: "heron",
        collections: [{ repository: "r", collection: "c" }],
      });
      expect(hits).toHaveLength(1);
      seen.add(hits[0]?.text.includes("old") === true ? "old" : "new");
      if (last) break;
      last = (await bench.documents())[0]?.live_version === 2;
    }
    expect([...seen].at(-1)).toBe("new");
    expect((await running).result).toMatchObject({ replaced: 1 });
  });

  it("R-LISA-21 R-LISA-76 without auto_remove a document stays when its file is deleted, and the plan says so; source files are never touched", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "one", "b.txt": "two" });
    const id = await bench.pipeline();
    await bench.run(id);
    await rm(join(bench.folder, "a.txt"));
    expect(await bench.knowledge.pipelines.plan(admin, "r", "c", id)).toMatchObject({
      counts: { remove: 0, keep: 1, unchanged: 1 },
      keep: [bench.uri("a.txt")],
    });
    expect((await bench.run(id)).result).toMatchObject({ removed: 0, kept: 1, unchanged: 1 });
    expect(await bench.uris()).toEqual([bench.uri("a.txt"), bench.uri("b.txt")]);
  });

  it("U13 files of the same name in different folders are different documents, also from an upload of that name", async () => {
    await using bench = await Bench.open();
    await bench.write({ "x/readme.md": "first", "y/readme.md": "second" });
    async function* body() {
      yield Buffer.from("third");
    }
    await bench.knowledge.documents.upload(admin, "r", "c", { name: "readme.md", body: body() });
    const id = await bench.pipeline({ auto_remove: true });
    expect((await bench.run(id)).result).toMatchObject({ added: 2 });
    expect((await bench.documents()).map(({ name }) => name)).toEqual(["readme.md", "readme.md", "readme.md"]);
    await rm(join(bench.folder, "x/readme.md"));
    expect((await bench.run(id)).result).toMatchObject({ removed: 1 });
    expect(await bench.uris()).toEqual([bench.uri("y/readme.md"), "upload:readme.md"]);
  });

  it("an unchanged file is not read again; one that was only touched is read once and keeps its version", async () => {
    await using bench = await Bench.open();
    bench.background((signal) => bench.opened.work(signal));
    await bench.write({ "a.txt": "same words" });
    const id = await bench.pipeline();
    await bench.run(id);
    await until(async () => (await bench.documents()).every(({ status }) => status === "indexed"));
    expect((await bench.run(id)).result).toMatchObject({ unchanged: 1, replaced: 0 });
    await utimes(join(bench.folder, "a.txt"), new Date(1_000_000), new Date(1_000_000));
    expect(await bench.knowledge.pipelines.plan(admin, "r", "c", id)).toMatchObject({
      counts: { replace: 1, unchanged: 0 },
    });
    expect((await bench.run(id)).result).toMatchObject({ unchanged: 1, replaced: 0 });
    expect(await bench.knowledge.pipelines.plan(admin, "r", "c", id)).toMatchObject({
      counts: { replace: 0, unchanged: 1 },
    });
    const { document_id } = (await bench.documents())[0] as { document_id: string };
    expect(await bench.knowledge.documents.versions(admin, "r", "c", document_id)).toHaveLength(1);
  });

  it("the guard: removals above the allowed share stop the run and remove nothing, unless forced", async () => {
    await using bench = await Bench.open();
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}.txt`, `file ${i}`]));
    await bench.write(files);
    const id = await bench.pipeline({ auto_remove: true });
    await bench.run(id);
    // Exactly half may be removed …
    for (let i = 0; i < 5; i += 1) await rename(join(bench.folder, `f${i}.txt`), join(bench.folder, `.f${i}.txt`));
    expect(await bench.knowledge.pipelines.plan(admin, "r", "c", id)).toMatchObject({
      counts: { remove: 5 },
      blocked: null,
    });
    // … one more may not.
    await rm(join(bench.folder, "f5.txt"));
    const { blocked } = await bench.knowledge.pipelines.plan(admin, "r", "c", id);
    expect(blocked).toMatch(/6 of the pipeline's 10 documents would be removed/);
    const stopped = await bench.run(id);
    expect(stopped).toMatchObject({ status: "failed", error: blocked, attempts: 1 });
    expect(await bench.documents()).toHaveLength(10);
    expect((await bench.run(id, { force: true })).result).toMatchObject({ removed: 6, unchanged: 4 });
    // Below ten documents all may be removed.
    await rm(bench.folder, { recursive: true });
    await mkdir(bench.folder);
    expect((await bench.run(id)).result).toMatchObject({ removed: 4 });
  });

  it("a missing folder removes nothing and is reported", async () => {
    await using bench = await Bench.open();
    await bench.write({ "in/a.txt": "a" });
    const id = await bench.pipeline({ auto_remove: true, source: `file:${join(bench.folder, "in")}` });
    await bench.run(id);
    await rename(join(bench.folder, "in"), join(bench.folder, "away"));
    expect(await bench.run(id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("cannot be read (ENOENT)"),
    });
    expect(await bench.documents()).toHaveLength(1);
  });

  it("bad files are skipped with their reasons, at the limit and one past it, and keep their document", async () => {
    await using bench = await Bench.open({}, { fileBytesMax: 100 });
    await bench.write({
      "a.exe": "x",
      b: "x",
      "empty.txt": "",
      ".hidden.txt": "x",
      ".git/config.txt": "x",
      "fits.txt": "x".repeat(100),
      "large.txt": "x".repeat(101),
      "back\\slash.txt": "x",
      [`${"n".repeat(200)}.txt`]: "x",
    });
    await symlink("/etc/hostname", join(bench.folder, "out.txt"));
    await symlink("/nowhere", join(bench.folder, "dead.txt"));
    await symlink(join(bench.folder, "fits.txt"), join(bench.folder, "in.txt"));
    await symlink("/etc", join(bench.folder, "etc"));
    const id = await bench.pipeline();
    const { skipped, add } = await bench.knowledge.pipelines.plan(admin, "r", "c", id);
    expect(add.toSorted()).toEqual(
      [bench.uri("fits.txt"), bench.uri("in.txt"), bench.uri(`${"n".repeat(200)}.txt`)].toSorted(),
    );
    expect(Object.fromEntries(skipped.map(({ uri, reason }) => [uri.slice(uri.lastIndexOf("/") + 1), reason]))).toEqual(
      {
        "a.exe": expect.stringContaining("this file type is not accepted"),
        b: expect.stringContaining("this file type is not accepted"),
        "empty.txt": "is empty",
        ".hidden.txt": expect.stringContaining("hidden"),
        ".git": expect.stringContaining("hidden"),
        "large.txt": "has 101 bytes; the limit is 100",
        "back\\slash.txt": expect.stringContaining("a file name cannot contain"),
        "out.txt": "is a link that leads out of the folder",
        "dead.txt": "is a broken link",
        etc: "is a link that leads out of the folder",
      },
    );
    expect((await bench.run(id)).result).toMatchObject({ added: 3, skipped: 10, failed: 0 });
    await bench.write({ "fits.txt": "y".repeat(101) });
    expect((await bench.run(id)).result).toMatchObject({ unchanged: 1, skipped: 12, removed: 0 });
    expect(await bench.documents()).toHaveLength(3);
  });

  it("a deleted pipeline leaves its documents; a new one on the same source adopts them without reading them again, and then may remove them", async () => {
    await using bench = await Bench.open();
    bench.background((signal) => bench.opened.work(signal));
    await bench.write({ "a.txt": "a", "b.txt": "b" });
    const old = await bench.pipeline({ auto_remove: true });
    await bench.run(old);
    await until(async () => (await bench.documents()).every(({ status }) => status === "indexed"));
    await bench.knowledge.pipelines.delete(admin, "r", "c", old);
    expect((await bench.knowledge.pipelines.list(admin, "r", "c")).items).toEqual([]);
    await rm(join(bench.folder, "b.txt"));
    const id = await bench.pipeline({ auto_remove: true });
    // A document of the old pipeline whose file is gone stays: no pipeline owns it.
    expect((await bench.run(id)).result).toMatchObject({ unchanged: 1, removed: 0, added: 0 });
    expect(
      (await bench.documents()).map(({ name, version, source }) => [name, version, source.pipeline_id]).toSorted(),
    ).toEqual([
      ["a.txt", 1, id],
      ["b.txt", 1, old],
    ]);
    await rm(join(bench.folder, "a.txt"));
    expect((await bench.run(id)).result).toMatchObject({ removed: 1 });
    expect(await bench.uris()).toEqual([bench.uri("b.txt")]);
  });

  it("two concurrent runs, in two processes, do the work once", async () => {
    await using bench = await Bench.open();
    await bench.write(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}.txt`, `file ${i}`])));
    const id = await bench.pipeline();
    const other = await bench.another();
    const jobs = await Promise.all([
      bench.knowledge.pipelines.run(admin, "r", "c", id),
      other.knowledge.pipelines.run(admin, "r", "c", id),
    ]);
    const results = await Promise.all(
      jobs.map(async ({ job_id }) => (await bench.ended(job_id)).result as unknown as RunResult),
    );
    expect(results.map(({ added }) => added).toSorted((a, b) => a - b)).toEqual([0, 12]);
    expect(
      results
        .map(({ unchanged, failed }) => [unchanged, failed])
        .toSorted((a, b) => (a[0] as number) - (b[0] as number)),
    ).toEqual([
      [0, 0],
      [12, 0],
    ]);
    expect((await bench.documents()).map(({ version }) => version)).toEqual(Array.from({ length: 12 }, () => 1));
  });

  it("a run whose process stops is completed by another, with nothing missing or duplicated", async () => {
    await using bench = await Bench.open();
    const names = Array.from({ length: 40 }, (_, i) => `f${i}.txt`);
    await bench.write(Object.fromEntries(names.map((name) => [name, `file ${name}`])));
    const id = await bench.pipeline();
    const other = await bench.another();
    const { job_id } = await other.knowledge.pipelines.run(admin, "r", "c", id);
    await until(async () => (await bench.documents()).length > 0);
    await other.close();
    bench.clock.advance(61_000);
    await bench.opened.sweep(new AbortController().signal);
    expect(await bench.ended(job_id)).toMatchObject({ status: "succeeded", result: { failed: 0 } });
    expect(await bench.uris()).toEqual(names.map((name) => bench.uri(name)).toSorted());
    expect((await bench.documents()).filter(({ status }) => status === "failed" || status === "uploading")).toEqual([]);
  });

  it("a failing file is named in the result, at most a hundred of them, and the others are added", async () => {
    await using bench = await Bench.open({}, { documentsPerCollectionMax: 2 });
    const count = pipelineLimits.resultFilesMax + 3;
    await bench.write(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}.txt`, `file ${i}`])));
    const id = await bench.pipeline();
    const { status, result, progress } = await bench.run(id);
    expect(status).toBe("succeeded");
    expect(progress).toEqual({ done: count, total: count });
    const { failures, ...counts } = result as unknown as RunResult;
    expect(counts).toMatchObject({ added: 2, failed: count - 2, retryable_failures: 0 });
    expect(failures).toHaveLength(pipelineLimits.resultFilesMax);
    expect(failures[0]).toMatchObject({
      uri: expect.stringContaining(bench.folder),
      reason: expect.stringContaining("holds 2 documents"),
      retryable: false,
    });
  });

  it("a run waits while another process runs the pipeline, and can be cancelled meanwhile", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "a" });
    const id = await bench.pipeline();
    const { incarnation } = await bench.knowledge.collections.get(admin, "r", "c");
    const system = systemScope("test", () => {});
    const registry = new PipelineRegistry(bench.items, system, bench.clock);
    const lease = { tenant: "acme", incarnation, pipeline_id: id, what: "run", owner: "somebody else" } as const;
    expect(await registry.hold(lease)).toBe(true);
    const [first, second] = [
      await bench.knowledge.pipelines.run(admin, "r", "c", id),
      await bench.knowledge.pipelines.run(admin, "r", "c", id),
    ];
    await bench.knowledge.jobs.cancel(admin, first.job_id);
    await registry.release(lease);
    expect((await bench.ended(second.job_id)).result).toMatchObject({ added: 1 });
    expect(await bench.knowledge.jobs.get(admin, first.job_id)).toMatchObject({ status: "cancelled", result: null });
    expect((await bench.documents()).map(({ job_id }) => job_id)).toEqual([second.job_id]);
  });

  it("an archived collection accepts nothing; the job says so", async () => {
    await using bench = await Bench.open();
    await bench.write({ "a.txt": "a" });
    const id = await bench.pipeline();
    await bench.knowledge.collections.archive(admin, "r", "c");
    expect(await bench.run(id)).toMatchObject({ status: "failed", error: expect.stringContaining("archived") });
    await failure(bench.knowledge.pipelines.delete(admin, "r", "c", id), "CONFLICT");
    await failure(bench.pipeline({ source: `file:${bench.folder}/x` }), "CONFLICT");
  });
});
