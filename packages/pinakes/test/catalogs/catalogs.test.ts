/** Catalogs through the tools: names, limits, lists, and who sees what; on the engines that people run, embedded and over HTTP. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { catalogTools } from "../../src/catalogs/index.ts";
import { knowledgeEngines } from "../knowledge/support/knowledge-engines.ts";
import { catalogWorld, type CatalogUser, type Via } from "./support/catalog-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const engines = knowledgeEngines().filter(([name]) => name !== "DynamoDB");
const cases = engines.flatMap(([name, openOn]) =>
  (["embedded", "http"] as const).map((via) => ({ name, openOn, via })),
);

it("R-KB-42 there are ten tools, each with a strict input whose every field says what it is", () => {
  expect(catalogTools.map(({ name }) => name).toSorted()).toEqual([
    "create_catalog",
    "delete_catalog",
    "delete_catalog_document",
    "download_from_catalog",
    "get_indexing_status",
    "list_catalog_documents",
    "list_catalogs",
    "query_catalog",
    "select_catalog",
    "upload_to_catalog",
  ]);
  for (const { name, input, output, description } of catalogTools) {
    const schema = z.toJSONSchema(input, { io: "input" });
    expect(schema.additionalProperties, name).toBe(false);
    for (const [field, property] of Object.entries(schema.properties ?? {}))
      expect(typeof property === "object" && property.description, `${name}.${field}`).toBeTruthy();
    expect(z.toJSONSchema(output).type, name).toBe("object");
    expect(description.length, name).toBeGreaterThan(40);
  }
});

it("R-KB-42 what a tool may change is said in its annotations", () => {
  const readOnly = catalogTools.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name);
  expect(readOnly.toSorted()).toEqual([
    "download_from_catalog",
    "get_indexing_status",
    "list_catalog_documents",
    "list_catalogs",
    "query_catalog",
  ]);
  const destructive = catalogTools.filter(({ annotations }) => annotations.destructiveHint).map(({ name }) => name);
  expect(destructive.toSorted()).toEqual(["delete_catalog", "delete_catalog_document", "upload_to_catalog"]);
});

describe.each(cases)("catalogs on $name, $via", ({ openOn, via }) => {
  const test = forAllTests(() => openOn());
  const world = forAllTests(() => catalogWorld(test.pinakes, via satisfies Via));

  it("R-KB-05 R-KB-10 R-KB-11 R-KB-12 a catalog gets its id, data source, prefix and times from the server", async () => {
    const ann = await world.user("ann-1");
    const made = await ann.ok("create_catalog", { catalog_name: "Papers", description: "a < b" });
    expect(made).toMatchObject({ tool_type: "knowledge_base", catalog_name: "Papers", indexing_status: "pending" });
    const id = made["catalog_id"] as string;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect(made["s3_prefix"]).toBe(`ann-1/${id}/`);
    expect(made["data_source_id"]).toMatch(/^[0-9A-Z]{10}$/);
    expect(made["created_at"]).toBeTypeOf("number");
    const [listed] = (await ann.ok("list_catalogs"))["catalogs"] as readonly Record<string, unknown>[];
    expect(listed).toMatchObject({ id, data_source_id: made["data_source_id"], s3_prefix: made["s3_prefix"] });
    expect(listed).not.toHaveProperty("last_sync_at");
    expect(await ann.refused("create_catalog", { catalog_name: "Other", catalog_id: "mine" })).toBe("INVALID_INPUT");
    expect(await ann.refused("create_catalog", { catalog_name: "Other", user_id: "bob" })).toBe("INVALID_INPUT");
    expect((await ann.ok("list_catalogs"))["catalog_count"]).toBe(1);
  });

  it("R-KB-07 R-KB-09 K3 K8 names and descriptions at and past their limits", async () => {
    const ann = await world.user("ann-2");
    const names = ["", " ", "x".repeat(101), "a\nb", "a\tb", "a.b", "a/b", "ä", "x\n", 7, null];
    for (const catalog_name of names)
      expect(await ann.refused("create_catalog", { catalog_name })).toBe("INVALID_NAME");
    expect(await ann.refused("create_catalog", {})).toBe("INVALID_NAME");
    for (const description of ["x".repeat(501), "<b>bold</b>", "<!-- x -->", "a\0b", 5])
      expect(await ann.refused("create_catalog", { catalog_name: "D", description })).toBe("INVALID_DESCRIPTION");
    expect((await ann.ok("list_catalogs"))["catalog_count"]).toBe(0);
    await ann.ok("create_catalog", { catalog_name: "x".repeat(100), description: "y".repeat(500) });
    await ann.ok("create_catalog", { catalog_name: "a-b_C 1", description: "a < b\nand more" });
    // As many characters as 500, though JavaScript counts them twice.
    await ann.ok("create_catalog", { catalog_name: "Emoji", description: "🚂".repeat(500) });
  });

  it("R-KB-08 K8 of 50 creates of one name at once one succeeds; another user has names of their own", async () => {
    const ann = await world.user("ann-3");
    const spelled = (i: number) => (i % 2 === 0 ? "Docs" : "dOCS");
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => ann.call("create_catalog", { catalog_name: spelled(i) })),
    );
    expect(answers.filter(({ status }) => status === "success")).toHaveLength(1);
    const codes = new Set(answers.flatMap(({ metadata }) => metadata.error_code ?? []));
    expect([...codes]).toEqual(["DUPLICATE_NAME"]);
    await (await world.user("bob-3")).ok("create_catalog", { catalog_name: "Docs" });
    expect((await ann.ok("list_catalogs"))["catalog_count"]).toBe(1);
  });

  it("R-KB-39 a user has 100 catalogs at most, however they are created; deleting one frees one; all are listed", async () => {
    const ann = await world.user("ann-4");
    const create = (i: number) => ann.call("create_catalog", { catalog_name: `Catalog ${i}` });
    const answers = await Promise.all(Array.from({ length: 103 }, (_, i) => create(i)));
    expect(answers.filter(({ status }) => status === "success")).toHaveLength(100);
    expect(new Set(answers.flatMap(({ metadata }) => metadata.error_code ?? []))).toEqual(new Set(["LIMIT_EXCEEDED"]));
    const listed = await ann.ok("list_catalogs");
    expect(listed["catalog_count"]).toBe(100);
    const [first] = listed["catalogs"] as readonly { id: string }[];
    await ann.ok("delete_catalog", { catalog_id: first?.id, confirm: true });
    await ann.ok("create_catalog", { catalog_name: "Once more" });
    expect(await ann.refused("create_catalog", { catalog_name: "One too many" })).toBe("LIMIT_EXCEEDED");
  });

  it("R-KB-48 R-KB-33 another user's catalog and another workspace's are not found, in the words of one that never was", async () => {
    const ann = await world.user("ann-5");
    const id = await ann.catalog("Secrets", { "plans.txt": "The plans of the vault." });
    const [document] = (await ann.ok("list_catalog_documents", { catalog_id: id }))["documents"] as readonly {
      document_id: string;
    }[];
    const never = "0190a0a0-0000-7000-8000-000000000000";
    const strangers = [await world.user("bob-5"), await world.user("ann-5", { tenant: "elsewhere" })];
    const file = { filename: "plans.txt", file_content: "eA==" };
    const attempts = (catalog_id: string): readonly (readonly [string, object])[] => [
      ["upload_to_catalog", { catalog_id, ...file }],
      ["upload_to_catalog", { catalog_id, ...file, replace: true }],
      ["upload_to_catalog", { catalog_id, filename: "plans.txt" }],
      ["list_catalog_documents", { catalog_id }],
      ["delete_catalog_document", { catalog_id, document_id: document?.document_id }],
      ["download_from_catalog", { catalog_id, document_id: document?.document_id }],
      ["select_catalog", { catalog_id }],
      ["query_catalog", { catalog_id, query: "plans of the vault" }],
      ["delete_catalog", { catalog_id, confirm: true }],
      ["delete_catalog", { catalog_id }],
      ["get_indexing_status", { catalog_id }],
    ];
    for (const stranger of strangers) {
      const told = await answersOf(stranger, attempts(id));
      expect(told.map(({ metadata }) => metadata.error_code)).toEqual(told.map(() => "CATALOG_NOT_FOUND"));
      const unknown = await answersOf(stranger, attempts(never));
      expect(JSON.stringify(told).replaceAll(id, "ID")).toBe(JSON.stringify(unknown).replaceAll(never, "ID"));
      expect((await stranger.ok("list_catalogs"))["catalog_count"]).toBe(0);
    }
    expect((await ann.ok("query_catalog", { catalog_id: id, query: "plans of the vault" }))["result_count"]).toBe(1);
  });

  it("ids that cannot be ids name nothing; arguments that are not known are refused", async () => {
    const ann = await world.user("ann-6");
    for (const catalog_id of ["../x", "a/b", "a?b", "ü", "x".repeat(300), "none", "me"])
      expect(await ann.refused("get_indexing_status", { catalog_id }), catalog_id).toBe("CATALOG_NOT_FOUND");
    for (const catalog_id of ["", 5, null, undefined])
      expect(await ann.refused("get_indexing_status", { catalog_id })).toBe("INVALID_INPUT");
    expect(await ann.refused("list_catalogs", { user_id: "bob" })).toBe("INVALID_INPUT");
    const id = await ann.catalog("Mine");
    for (const document_id of ["../x", "a/b", "nothing"])
      expect(await ann.refused("download_from_catalog", { catalog_id: id, document_id })).toBe("DOCUMENT_NOT_FOUND");
  });
});

async function answersOf(user: CatalogUser, attempts: readonly (readonly [string, object])[]) {
  const answers = [];
  for (const [tool, args] of attempts) answers.push(await user.call(tool, args));
  return answers;
}
