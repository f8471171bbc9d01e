import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { collections } from "./collections.ts";
import { repositories } from "./repositories.ts";
import { failure, run } from "../terminal/test-terminal.ts";
import { transfer } from "./transfer.ts";

const base = temporaryFolder("transfer-cli");

describe("pinakes transfer", () => {
  it("R-LISA-03 exports into tables named by the environment, LISA's own names by default, and imports them elsewhere", async () => {
    const env = { PINAKES_DATA: join(base, "one") };
    await run(repositories, ["create", "kb", "--name", "Knowledge"], { env });
    await run(collections, ["create", "kb/papers", "--name", "Papers"], { env });
    const named = join(base, "named");
    const told = await run(transfer, ["export", named, "--no-files"], {
      env: { ...env, LISA_RAG_COLLECTIONS_TABLE: "OurCollections" },
    });
    expect(told.out).toMatch(/^\d+ files, \d+ bytes, in /);
    expect(existsSync(join(named, "tables/OurCollections.jsonl"))).toBe(true);
    const plain = join(base, "plain");
    await run(transfer, ["export", plain, "--json"], { env });
    const [row] = readFileSync(join(plain, "tables/LisaRagCollectionsTable.jsonl"), "utf8").trim().split("\n");
    expect(JSON.parse(row as string)).toMatchObject({ repositoryId: "kb", collectionId: "papers", name: "Papers" });
    expect(existsSync(join(plain, "tables/LisaRagVectorStoreTable.jsonl"))).toBe(true);
    expect((await failure(run(transfer, ["export", plain], { env }))).detail).toContain("export into an empty folder");

    const other = { PINAKES_DATA: join(base, "two") };
    expect((await run(transfer, ["import", plain, "--dry-run"], { env: other })).out).toContain("Nothing was written.");
    const imported = await run(transfer, ["import", plain], { env: other });
    expect(imported).toMatchObject({ code: 0, out: expect.stringContaining("collection: 1 created") as string });
    expect((await run(transfer, ["import", plain], { env: other })).out).toContain(
      "collection: 0 created, 1 skipped (existing)",
    );
    expect((await run(collections, ["show", "kb/papers"], { env: other })).out).toContain("Papers");
  });

  it("tells what it could not take, by file and line, and fails", async () => {
    const env = { PINAKES_DATA: join(base, "three") };
    const folder = await mkdtemp(join(base, "bad-"));
    await writeFile(
      join(folder, "LisaRagCollectionsTable.jsonl"),
      '{"collectionId": "a#b", "repositoryId": "r"}\nno json\n',
    );
    const { code, out } = await run(transfer, ["import", folder], { env });
    expect(code).toBe(1);
    expect(out).toMatch(/LisaRagCollectionsTable\.jsonl:1: /);
    expect(out).toMatch(/LisaRagCollectionsTable\.jsonl:2: /);
    expect((await failure(run(transfer, ["import", folder, "--models", "[1]"], { env }))).detail).toContain(
      "--models: must be an object",
    );
  });
});
