/**
 * One PostgreSQL and two object folders: refused; if forced, a repair destroys nothing, and with the right folder everything is as before.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { parseStores } from "../../src/config-stores.ts";
import type { AuditReport, DocumentView, FsckInput } from "../../src/knowledge/index.ts";
import { open, storeIds, type Pinakes } from "../../src/open.ts";
import { body } from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { useServers } from "../support/servers.ts";

const base = temporaryFolder("wrong-objects");
const { postgres } = useServers();
const documentsMax = 30;
const names = { dir: "dir", database: "database", items: "items", objects: "objects", queue: "queue" };
const stores = (name: string) => ({
  dir: join(base, name),
  items: postgres(),
  objects: `file:${join(base, name, "objects")}`,
});
const admin = (pinakes: Pinakes) => pinakes.as({ tenant: "acme", userId: "root", role: "admin" });

async function documents(pinakes: Pinakes): Promise<readonly DocumentView[]> {
  return (await pinakes.knowledge.documents.list(admin(pinakes), "kb", "papers", { limit: 100 })).items;
}

const settled = (pinakes: Pinakes) =>
  until(async () => {
    const all = await documents(pinakes);
    return all.every(({ status }) => status === "indexed" || status === "failed") ? all : undefined;
  });

async function fsck(pinakes: Pinakes, input: FsckInput = {}): Promise<AuditReport> {
  const { job_id } = await pinakes.knowledge.audit.fsck(admin(pinakes), input);
  const job = await until(async () => {
    const now = await pinakes.knowledge.jobs.get(admin(pinakes), job_id);
    return now.status === "queued" || now.status === "running" ? undefined : now;
  });
  expect(job.error).toBeNull();
  return job.result as unknown as AuditReport;
}

async function found(pinakes: Pinakes): Promise<readonly string[]> {
  const collections = [{ repository: "kb", collection: "papers" }];
  const { hits } = await pinakes.knowledge.search.run(admin(pinakes), {
    query: "otter number 17",
    collections,
    mode: "keyword",
    limit: 50,
  });
  return hits.map(({ document_id }) => document_id).toSorted();
}

/** What must survive, without times of access. */
const kept = (all: readonly DocumentView[]) =>
  all.map(({ document_id, name, status, error, size_bytes, sha256, chunk_count }) => ({
    document_id,
    name,
    status,
    error,
    size_bytes,
    sha256,
    chunk_count,
  }));

it("two folders with one PostgreSQL: refused; if forced, repairs only mark; with the right folder 30 documents are as before", async () => {
  const [right, wrong] = [stores("a"), stores("b")];
  let before: ReturnType<typeof kept>;
  let hits: readonly string[];
  {
    await using pinakes = await open(right);
    await pinakes.knowledge.repositories.create(admin(pinakes), { repository_id: "kb" });
    await pinakes.knowledge.collections.create(admin(pinakes), "kb", { collection_id: "papers" });
    for (let i = 0; i < documentsMax; i += 1)
      await pinakes.knowledge.documents.upload(admin(pinakes), "kb", "papers", {
        name: `${i}.txt`,
        body: body(`Words about otter number ${i}.`),
      });
    before = kept(await settled(pinakes));
    expect(before.map(({ status }) => status)).toEqual(Array.from({ length: documentsMax }, () => "indexed"));
    hits = await found(pinakes);
    expect(hits.length).toBeGreaterThan(0);
    // Beside a running process, without configured objects.
    await expect(open(wrong)).rejects.toThrow(/has no store id/);
    await expect(open({ dir: wrong.dir, items: wrong.items })).rejects.toThrow(
      /objects: set the location of the objects/,
    );
  }
  await expect(open(wrong)).rejects.toThrow(/has no store id/);
  await storeIds(parseStores(wrong, names), { bind: true });
  {
    await using pinakes = await open(wrong);
    const refused = await fsck(pinakes, { repair: true });
    expect(refused.refused).toMatchObject([
      {
        collection_id: "papers",
        kinds: expect.arrayContaining(["record_without_object", "manifest_broken"]) as string[],
      },
    ]);
    expect(refused.left).toBe(refused.found);
    expect(kept(await documents(pinakes))).toEqual(before);
    // Forced, twice, so that also rebuilding from nothing has happened.
    await fsck(pinakes, { repair: true, force_missing: true });
    const marked = kept(await documents(pinakes));
    expect(marked.map(({ status }) => status)).toEqual(Array.from({ length: documentsMax }, () => "failed"));
    expect(marked.map(({ size_bytes, sha256 }) => [size_bytes, sha256])).toEqual(
      before.map(({ size_bytes, sha256 }) => [size_bytes, sha256]),
    );
  }
  {
    await using pinakes = await open(right);
    expect((await fsck(pinakes)).summary).toMatchObject({ bytes_returned: { found: documentsMax } });
    expect(await fsck(pinakes, { repair: true })).toMatchObject({
      left: 0,
      summary: { bytes_returned: { repaired: documentsMax } },
    });
    expect(kept(await settled(pinakes))).toEqual(before);
    expect(await found(pinakes)).toEqual(hits);
    expect(await fsck(pinakes, { deep: true })).toMatchObject({ found: 0 });
  }
  // Forced twice, and even then: what was rebuilt from nothing is rebuilt from the bytes again.
  {
    await using pinakes = await open(wrong);
    await fsck(pinakes, { repair: true, force_missing: true });
    await fsck(pinakes, { repair: true, force_missing: true });
    await settled(pinakes);
  }
  await using pinakes = await open(right);
  await fsck(pinakes, { repair: true });
  await settled(pinakes);
  await fsck(pinakes, { repair: true });
  expect(kept(await settled(pinakes))).toEqual(before);
  expect(await found(pinakes)).toEqual(hits);
  expect(await fsck(pinakes, { deep: true })).toMatchObject({ found: 0 });
});
