import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { PinakesError } from "../../domain/errors.ts";
import { tenantScope } from "../../domain/scope.ts";
import { open } from "../../open.ts";
import { vectorsCommand } from "./vectors.ts";

const dir = temporaryFolder("cli-vectors");

async function run(...args: string[]): Promise<{ code: number; text: string }> {
  let text = "";
  const code = await vectorsCommand(args, {
    env: { PINAKES_DATA: dir },
    out: (part) => {
      text += part;
    },
  });
  return { code, text };
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!PinakesError.isInstance(error)) throw new Error(`expected a PinakesError, got ${String(error)}`);
  return error;
}

async function json(...args: string[]): Promise<unknown> {
  return JSON.parse((await run(...args, "--tenant", "acme", "--json")).text);
}

describe("pinakes vectors", () => {
  beforeAll(async () => {
    await using pinakes = await open({ dir, background: false });
    const scope = tenantScope("acme");
    await pinakes.vectors.create(scope, "papers", { dims: 2 });
    await pinakes.vectors.append(scope, "papers", {
      upsert: [{ id: "p1", vector: [1, 0], text: "On computable numbers", metadata: { year: 1936 } }],
    });
    await pinakes.vectors.append(scope, "papers", {
      upsert: [{ id: "p2", vector: [0, 1], text: "A relational model", metadata: { year: 1970 } }],
    });
  });

  it("R-CMP-38 shows what is pending, compacts it, and shows the history of commits", async () => {
    expect(await json("inspect", "papers")).toMatchObject({ pendingDeltas: 2, liveRows: 0, lastSeq: 2 });
    expect(await json("compact", "papers")).toMatchObject({ outcome: "done", folds: 1, rowsWritten: 2 });
    expect(await json("inspect", "papers")).toMatchObject({ pendingDeltas: 0, oldestPendingMs: 0, liveRows: 2 });
    expect(await json("history", "papers")).toMatchObject([
      { reason: "init" },
      { reason: "fold", appliedSeq: 2, live: 2 },
    ]);
    expect((await run("history", "papers", "--tenant", "acme")).text).toMatch(/^version +reason .*\n0 +init /);
    expect((await run("list", "--tenant", "acme")).text).toContain("papers      active  2     cosine");
  });

  it("searches, with a filter", async () => {
    expect(await json("query", "papers", "--text", "numbers", "--filter", '{"year":{"lt":1950}}')).toMatchObject({
      hits: [{ id: "p1" }],
    });
    expect(
      (await failure(run("query", "papers", "--tenant", "acme", "--text", "x", "--filter", "{"))).message,
    ).toContain("--filter: is not JSON");
    expect(
      (await failure(run("query", "papers", "--tenant", "acme", "--text", "x", "--filter", '{"yeer":1}'))).message,
    ).toContain('Did you mean "year"');
  });

  it("R-CMP-33 checks, and says by its exit code what it found", async () => {
    expect(await run("fsck", "--tenant", "acme")).toMatchObject({ code: 0 });
    await using pinakes = await open({ dir, background: false });
    const scope = tenantScope("acme");
    const [segment] = (await pinakes.vectors.stats(scope, "papers")).segments;
    const key = segment?.key ?? "";
    const bytes = (await pinakes.objects.get(scope, key)) ?? new Uint8Array();
    await pinakes.objects.put(
      scope,
      key,
      Uint8Array.from(bytes, (byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte)),
    );
    const broken = await run("fsck", "papers", "--tenant", "acme");
    expect(broken.code).toBe(1);
    expect(broken.text).toContain(key);
    await pinakes.objects.put(scope, key, bytes);
    expect((await run("fsck", "papers", "--tenant", "acme")).code).toBe(0);
  });

  it("restores, deletes, undeletes and purges", async () => {
    expect(await json("restore", "papers", "--version", "0")).toMatchObject({
      version: 2,
      restored: 0,
      discarded: [1, 2],
    });
    expect(await json("restore", "papers", "--version", "1")).toMatchObject({ version: 3, restored: 1 });
    expect(await json("gc", "papers", "--dry-run")).toMatchObject({ outcome: "done", objects: 0, keys: [] });
    expect(await json("delete", "papers", "--days", "7")).toMatchObject({ deleted: "papers" });
    expect((await failure(json("inspect", "papers"))).message).toBe('There are no vectors for collection "papers".');
    expect(await json("undelete", "papers")).toEqual({ undeleted: "papers" });
    expect(await json("inspect", "papers")).toMatchObject({ liveRows: 2 });
    expect((await failure(json("purge", "papers"))).message).toContain("--yes");
    await json("purge", "papers", "--yes");
    expect(await json("list")).toEqual([]);
    expect((await failure(json("undelete", "papers"))).message).toContain("There are no vectors");
  });

  it("R-CMP-41 imports a folder, creating the collection, and again changes nothing", async () => {
    const from = join(dir, "old");
    await mkdir(join(from, "snapshot/latest"), { recursive: true });
    await mkdir(join(from, "delta/2025-08-02T08-05-27Z"), { recursive: true });
    await writeFile(
      join(from, "snapshot/latest/rows.jsonl"),
      '{"id":"a","embedding":[1,0],"document":"first"}\n{"id":"b","embedding":[0,1],"document":"second"}\n',
    );
    await writeFile(join(from, "delta/2025-08-02T08-05-27Z/rows.jsonl"), '{"id":"b","op":"delete"}\n');
    expect(await json("import", "old", "--from", from)).toMatchObject({
      rows: 3,
      partsNow: 2,
      sources: [{ key: "snapshot/latest/" }, { key: "delta/2025-08-02T08-05-27Z/" }],
    });
    expect(await json("import", "old", "--from", from)).toMatchObject({ partsNow: 0 });
    expect(await json("query", "old", "--text", "first second")).toMatchObject({ hits: [{ id: "a" }] });
    expect((await failure(json("import", "old"))).message).toContain("--from");
  });

  it("says what is missing, and another tenant sees nothing", async () => {
    expect((await run()).code).toBe(2);
    expect((await run("--help")).text).toContain("fsck");
    expect((await failure(run("list"))).message).toContain("--tenant");
    expect((await failure(run("nonsense"))).message).toContain('there is no command "vectors nonsense"');
    expect((await failure(run("inspect", "--tenant", "acme"))).message).toContain("specify the collection");
    expect((await failure(run("list", "x", "--tenant", "acme"))).message).toContain("takes no collection");
    expect((await failure(run("gc", "a", "b", "--tenant", "acme"))).message).toContain("unexpected");
    expect((await failure(run("gc", "a", "--tenant", "acme", "--nonsense"))).message).toContain("--nonsense");
    expect((await failure(run("restore", "papers", "--tenant", "acme"))).message).toContain("--version N or --time T");
    expect((await failure(run("inspect", "papers", "--tenant", "globex"))).message).toBe(
      'There are no vectors for collection "papers".',
    );
    expect((await run("list", "--tenant", "globex")).text).toBe("There are no collections.\n");
  });
});
