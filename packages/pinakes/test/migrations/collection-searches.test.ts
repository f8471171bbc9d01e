/** A moved collection, with real ingestion: it is found and cited as before, and a document extracted again gives the same triples. */
import { beforeAll, describe, expect, it } from "vitest";
import { openTestPinakes, settled, texts, uploaded, type Place } from "../knowledge/support/test-pinakes.ts";
import { until } from "../support/until.ts";
import { useServers } from "../support/servers.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres, dynamo } = useServers();

describe.each([
  ["memory", () => openTestPinakes("memory")],
  ["SQLite", () => openTestPinakes("sqlite")],
  ["PostgreSQL", () => openTestPinakes("elsewhere", { items: postgres() })],
  ["DynamoDB", () => openTestPinakes("elsewhere", { items: dynamo("moved") })],
] as const)("on %s", (_, openOn) => {
  let migrationId: string;
  let before: { readonly texts: readonly string[]; readonly triples: readonly string[] };
  const test = forAllTests(() => openOn());
  beforeAll(async () => {
    await test.knowledge.repositories.create(test.admin, { repository_id: "kb" });
    await test.knowledge.repositories.create(test.admin, { repository_id: "attic" });
    await test.knowledge.collections.create(test.admin, "kb", {
      collection_id: "animals",
      name: "Animals",
      graph: { extract: "structured" },
    });
  });

  const triples = async ({ repository, collection }: Place) => {
    const { items } = await test.knowledge.graph.matchTriples(test.admin, repository, collection, { limit: 1_000 });
    return items
      .map((triple) => JSON.stringify(triple).replaceAll(`:${repository}:${collection}:`, ":R:C:"))
      .toSorted();
  };
  const state = async () => (await test.pinakes.migrations.get(test.admin, migrationId)).state;

  it("R-TG-63 R-TG-128 searches, chunks, citations, triples and their sources are unchanged", async () => {
    const { knowledge, admin, pinakes } = test;
    const from: Place = { knowledge, caller: admin, repository: "kb", collection: "animals" };
    const zebra = await uploaded(from, "zebra.md", "# Zebras\n\nA zebra has black and white stripes.");
    const table = await uploaded(from, "animals.csv", "name,legs\nzebra,4\nostrich,2\n");
    before = { texts: await texts(from, "which animal has stripes"), triples: await triples(from) };
    expect(before.triples.length).toBeGreaterThan(3);
    const wanted = {
      kind: "collection",
      repository: "kb",
      collection: "animals",
      to: { repository: "attic", collection: "beasts" },
    };
    ({ migration_id: migrationId } = await pinakes.migrations.create(admin, { source: wanted, auto: true }));
    await until(async () => (await state()) === "switched");
    const to: Place = { ...from, repository: "attic", collection: "beasts" };
    expect(await texts(to, "which animal has stripes")).toEqual(before.texts);
    expect(await triples(to)).toEqual(before.triples);
    const { hits } = await knowledge.search.run(admin, {
      query: "black and white stripes",
      limit: 1,
      filter: { catalog_id: "beasts" },
    });
    expect(hits[0]).toMatchObject({ repository_id: "attic", collection_id: "beasts", document_id: zebra.document_id });
    const {
      checks: [check],
    } = await knowledge.search.verifyCitations(admin, [hits[0]?.citation as never]);
    expect(check).toMatchObject({ valid: true });
    // Extracted again at the target, the table gives the same triples.
    await knowledge.documents.reindex(admin, "attic", "beasts", table.document_id);
    expect(await settled(to, table.document_id)).toMatchObject({ status: "indexed", error: null });
    expect(await triples(to)).toEqual(before.triples);
    const audit = await knowledge.collections.usage(admin, "attic", "beasts");
    expect(audit.consistent).toBe(true);
  });

  it("R-TG-63 R-TG-97 after a rollback the old one answers as before and accepts writes, and the new one is in the trash", async () => {
    const { knowledge, admin, pinakes } = test;
    // The table was extracted again since: that goes to the trash.
    await pinakes.migrations.rollback(admin, migrationId, { force: true });
    await until(async () => (await state()) === "rolled_back");
    const from: Place = { knowledge, caller: admin, repository: "kb", collection: "animals" };
    expect(await texts(from, "which animal has stripes")).toEqual(before.texts);
    expect(await triples(from)).toEqual(before.triples);
    await expect(knowledge.collections.get(admin, "attic", "beasts")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await uploaded(from, "tiger.md", "# Tigers\n\nA tiger has orange and black stripes.");
    expect(await texts(from, "an orange animal")).toContainEqual(expect.stringContaining("orange") as string);
    expect((await knowledge.collections.usage(admin, "kb", "animals")).consistent).toBe(true);
  });
});
