/**
 * Catalogs as the knowledge-base agent wrote them: the record of a document has one id, the key of its object and its sidecar another
 * (K1). They are imported under the id of the record, and every operation knows them by it.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { catalogUser } from "./support/catalog-world.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import { embeddedKnowledge } from "../../src/embedded-knowledge.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { writeSidecar, type Sidecar } from "../../src/transfer/sidecar.ts";
import { exported, filesReader, itemsOf, lines, type Files } from "../../src/transfer/test-transfer.ts";
import { forAllTests } from "../support/for-tests.ts";

const owner = "cognito-sub-xxx";
const catalog_id = "cat-0123456789ab";
const folder = `${owner}/${catalog_id}/`;
const bucket = "acme-kb-docs-1-eu";
const text = "Ada prefers trains to planes.";
const record = "doc-aaaaaaaaaaaa";
const other = "doc-bbbbbbbbbbbb";
const third = "doc-cccccccccccc";

const catalog: JsonObject = {
  catalog_id,
  sk: "METADATA",
  user_id: owner,
  catalog_name: "Research Papers",
  data_source_id: "QX3JFV8N2K",
  s3_prefix: folder,
  created_at: 1_770_076_800_000,
  updated_at: 1_770_249_600_000,
  document_count: 1,
  total_size_bytes: text.length,
  indexing_status: "ready",
};

function item(document_id: string, s3_key: string | undefined, filename = "ada.txt"): JsonObject {
  return {
    catalog_id,
    sk: `DOC#${document_id}`,
    document_id,
    user_id: owner,
    filename,
    file_type: "txt",
    file_size_bytes: text.length,
    ...(s3_key === undefined ? {} : { s3_key }),
    uploaded_at: 1_770_163_200_000,
    indexing_status: "pending",
  };
}

/** An object with its sidecar. */
function object(id: string, said: Partial<Sidecar> = {}, name = "ada.txt", content = text): Files {
  const path = `${bucket}/${folder}${id}-${name}`;
  const sidecar = { user_id: owner, catalog_id, document_id: id, filename: name, ...said };
  return { [path]: content, [`${path}.metadata.json`]: writeSidecar(sidecar) };
}

const engines = knowledgeEngines().filter(([name]) => name !== "DynamoDB");

describe.each(engines)("catalogs with two ids of a document on %s", (_name, openOn) => {
  let tenant = "";
  let tests = 0;
  const test = forAllTests(() => openOn());
  beforeEach(() => {
    tests += 1;
    tenant = `workspace-${tests}`;
  });

  const admin = () => test.as("root", { role: "admin", tenant });
  const run = (items: readonly JsonObject[], objects: Files, options: object = {}) =>
    test.knowledge.transfer.import(admin(), filesReader({ "tables/t.jsonl": lines(...items), ...objects }), options);
  const user = () => {
    const caller = test.as(owner, { tenant });
    return catalogUser({ knowledge: embeddedKnowledge(test.pinakes, caller), userId: owner, selection: undefined });
  };
  const ids = async () => {
    const { documents } = await user().ok("list_catalog_documents", { catalog_id });
    return (documents as readonly JsonObject[]).map(({ document_id, file_size_kb }) => [document_id, file_size_kb]);
  };

  it.each([
    ["the key of the object, and the record names it", item(record, `${folder}${other}-ada.txt`), object(other)],
    ["the key of the object, and the record names none", item(record, undefined), object(other)],
    ["the key of the object, and the record names its own", item(record, `${folder}${record}-ada.txt`), object(other)],
    ["the sidecar alone", item(record, `${folder}${record}-ada.txt`), object(record, { document_id: other })],
    [
      "the key, and a third the sidecar",
      item(record, `${folder}${other}-ada.txt`),
      object(other, { document_id: third }),
    ],
  ])(
    "R-KB-17 K1 R-KB-37 another id is in %s: the document has the record's, for every operation",
    async (_which, row, objects) => {
      const preview = await run([catalog, row], objects, { dry_run: true });
      expect(preview).toMatchObject({
        problems: [],
        counts: { catalog: { created: 1 }, catalog_document: { created: 1 } },
      });
      const report = await run([catalog, row], objects);
      expect(report).toMatchObject({ problems: [], documents_without_bytes: 0 });
      expect(report.warnings).toMatchObject([{ line: 2, reason: expect.stringContaining(`keeps "${record}"`) }]);
      const again = await run([row, catalog], objects);
      expect(again).toMatchObject({ problems: [], counts: { catalog_document: { created: 0, skipped: 1 } } });

      const ann = user();
      expect(await ann.settled(catalog_id)).toMatchObject({ overall_status: "ready", counts: { indexed: 1 } });
      expect(await ids()).toEqual([[record, 0.03]]);
      const { sources } = await ann.ok("query_catalog", { catalog_id, query: "How does Ada travel?" });
      expect(sources).toMatchObject([{ document_id: record, filename: "ada.txt" }]);
      await ann.ok("download_from_catalog", { catalog_id, document_id: record });
      // What is exported has one id everywhere.
      const files = await exported(test.knowledge, admin());
      const path = `${folder}${record}-ada.txt`;
      const rows = itemsOf(String(files["tables/pinakes-kb-catalog.jsonl"]));
      expect(rows.find(({ sk }) => sk === `DOC#${record}`)).toMatchObject({ document_id: record, s3_key: path });
      const sidecar = Object.entries(files).find(([name]) => name.endsWith(`${path}.metadata.json`));
      expect(JSON.parse(String(sidecar?.[1]))).toEqual(
        JSON.parse(writeSidecar({ user_id: owner, catalog_id, document_id: record, filename: "ada.txt" })),
      );
      const gone = await ann.ok("delete_catalog_document", { catalog_id, document_id: record });
      expect(gone).toMatchObject({ filename: "ada.txt", vectors_removed: 1 });
      await ann.ok("delete_catalog", { catalog_id, confirm: true });
    },
  );

  it("R-KB-37 a plain sidecar tells as much as a typed one", async () => {
    const path = `${bucket}/${folder}${other}-ada.txt`;
    const plain = { user_id: owner, catalog_id, document_id: other, filename: "ada.txt" };
    const objects = { [path]: text, [`${path}.metadata.json`]: JSON.stringify({ metadataAttributes: plain }) };
    const report = await run([catalog, item(record, undefined)], objects);
    expect(report).toMatchObject({ problems: [], documents_without_bytes: 0 });
  });

  it("an object that is not surely this document's is not taken", async () => {
    const missing = item(record, undefined);
    const without = async (objects: Files, ...more: readonly JsonObject[]) => {
      const report = await run([catalog, missing, ...more], objects, { dry_run: true });
      expect(report.problems).toEqual([]);
      return report.documents_without_bytes;
    };
    // Another user's, another catalog's, another file's, or without a sidecar.
    expect(await without(object(other, { user_id: "eve" }))).toBe(1);
    expect(await without(object(other, { catalog_id: "cat-other" }))).toBe(1);
    expect(await without(object(other, {}, "canada.txt"))).toBe(1);
    expect(await without({ [`${bucket}/${folder}${other}-ada.txt`]: text })).toBe(1);
    // Of two it cannot be said which.
    expect(await without({ ...object(other), ...object(third) })).toBe(1);
    // One that another record names, in whatever order they come.
    expect(await without(object(other), item(other, `${folder}${other}-ada.txt`))).toBe(1);
    // A file whose name ends as this one does has its own record.
    const longer = item(third, undefined, "b-ada.txt");
    expect(await without(object(other, {}, "b-ada.txt"), longer)).toBe(1);
  });

  it("what the sidecar says of user, catalog or file name still refuses an object that the record names", async () => {
    for (const said of [{ user_id: "eve" }, { catalog_id: "cat-other" }, { filename: "other.txt" }]) {
      const report = await run([catalog, item(record, `${folder}${other}-ada.txt`)], object(other, said), {
        dry_run: true,
      });
      expect(report.problems).toMatchObject([{ line: 2, reason: expect.stringContaining("sidecar") }]);
    }
  });
});
