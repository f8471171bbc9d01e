/** Deleting a catalog removes everything of it, also when whoever began it dies. */
import { describe, expect, it } from "vitest";
import { embeddedKnowledge } from "../../src/embedded-knowledge.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { AuditReport } from "../../src/knowledge/index.ts";
import { open, type Pinakes } from "../../src/open.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import { until } from "../support/until.ts";
import { catalogUser, catalogWorld } from "./support/catalog-world.ts";

const engines = knowledgeEngines().filter(([name]) => name !== "DynamoDB");
const files = {
  "a.txt": "Words about harbours.",
  "b.md": "# Mountains\n\nWords about mountains.",
  "c.csv": "name,height\nAlp,3000\n",
};

describe.each(engines)("deleting catalogs on %s", (_name, openOn) => {
  it("R-KB-35 it needs a confirmation, removes records, objects and vectors, and says what it removed", async () => {
    await using test = await openOn();
    await using world = await catalogWorld(test.pinakes, "embedded");
    const ann = await world.user("ann");
    const kept = await ann.catalog("Kept", { "kept.txt": "Words about rivers." });
    const catalog_id = await ann.catalog("Papers", files);
    const refused = await ann.call("delete_catalog", { catalog_id });
    expect(refused.metadata).toMatchObject({
      error_code: "CONFIRMATION_REQUIRED",
      catalog_name: "Papers",
      document_count: 3,
    });
    expect(await ann.refused("delete_catalog", { catalog_id, confirm: false })).toBe("CONFIRMATION_REQUIRED");
    expect(await ann.refused("delete_catalog", { catalog_id, confirm: "true" })).toBe("INVALID_INPUT");
    expect((await ann.ok("get_indexing_status", { catalog_id }))["document_count"]).toBe(3);

    const gone = await ann.ok("delete_catalog", { catalog_id, confirm: true });
    expect(gone).toMatchObject({
      documents_deleted: 3,
      storage_freed_mb: 0.01,
      data_source_deleted: true,
      stores: expect.arrayContaining([expect.objectContaining({ store: "objects", remaining: 0 })]),
    });
    for (const store of gone["stores"] as readonly JsonObject[])
      expect(store["remaining"], String(store["store"])).toBe(0);
    expect(await ann.refused("delete_catalog", { catalog_id, confirm: true })).toBe("CATALOG_NOT_FOUND");
    expect(await ann.refused("list_catalog_documents", { catalog_id })).toBe("CATALOG_NOT_FOUND");
    // Its name is free, and the new catalog begins empty.
    const again = await ann.catalog("Papers");
    expect((await ann.ok("get_indexing_status", { catalog_id: again }))["document_count"]).toBe(0);
    expect(await ann.ok("query_catalog", { catalog_id: kept, query: "rivers" })).toMatchObject({ result_count: 1 });
    // Every store holds what the records name, and nothing else.
    expect((await audit(test.pinakes)).findings).toEqual([]);
  });

  it("R-KB-35 of several deletes at once all agree, and one that its caller gave up is finished by another process", async () => {
    await using test = await openOn({ background: false });
    const caller = test.as("ann");
    const stop = new AbortController();
    const context = {
      knowledge: embeddedKnowledge(test.pinakes, caller),
      userId: "ann",
      selection: test.pinakes.catalogSelections.slot(caller, "s1"),
    };
    const ann = catalogUser(context);
    const { catalog_id } = await ann.ok("create_catalog", { catalog_name: "Papers" });
    for (const [name, text] of Object.entries(files)) await ann.upload(catalog_id as string, name, text);
    stop.abort();
    const leaving = catalogUser({ ...context, signal: stop.signal });
    // The caller is gone before the purge is through; from here on it only goes forward.
    const left = await leaving.call("delete_catalog", { catalog_id, confirm: true }).catch((error: unknown) => error);
    expect(left).toMatchObject({ name: "AbortError" });
    expect(await ann.refused("get_indexing_status", { catalog_id })).toBe("CATALOG_NOT_FOUND");

    await using other = await open(test.stores);
    await using there = await catalogWorld(other, "embedded");
    const again = await there.user("ann");
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => again.call("delete_catalog", { catalog_id, confirm: true })),
    );
    for (const { status, metadata } of answers) {
      if (status === "success") expect(metadata).toMatchObject({ data_source_deleted: true });
      else expect(metadata.error_code).toBe("CATALOG_NOT_FOUND");
    }
    await until(
      async () => (await again.refused("delete_catalog", { catalog_id, confirm: true })) === "CATALOG_NOT_FOUND",
    );
    expect((await audit(other)).findings).toEqual([]);
  });
});

async function audit(pinakes: Pinakes): Promise<AuditReport> {
  const { knowledge } = pinakes;
  const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
  const { job_id } = await knowledge.audit.fsck(admin, { deep: true });
  const job = await until(async () => {
    const now = await knowledge.jobs.get(admin, job_id);
    return now.status === "queued" || now.status === "running" ? undefined : now;
  });
  expect(job.error).toBeNull();
  return job.result as unknown as AuditReport;
}
