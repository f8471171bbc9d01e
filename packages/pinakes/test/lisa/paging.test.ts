/** Lists of LISA's interface: pages, tokens, filters and orders, under both spellings. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../http/support/server.ts";
import { ingested, lisaWorld } from "./support/lisa-world.ts";
import { forAllTests } from "../support/for-tests.ts";

const repository = "paging";
const ids: string[] = [];

const world = forAllTests(() => lisaWorld());
const ann = forAllTests(() => world.client("ann", { role: "admin" }));
beforeAll(async () => {
  for (const id of [repository, "other"]) await ann.createRepository({ repositoryId: id, type: "opensearch" });
  for (const name of ["Alpha", "Beta", "Gamma"]) {
    const made = await ann.createCollection(repository, { name, description: `about ${name} things` });
    ids.push(made["collectionId"] as string);
  }
});

type Token = Readonly<Record<string, string>>;
interface Page extends Json {
  readonly collections: readonly Json[];
  readonly pagination: Json;
  readonly lastEvaluatedKey: Token | null;
}

async function page(path: string): Promise<Page> {
  const reply = await ann.send("GET", path);
  expect(reply.status, `${path}: ${reply.text}`).toBe(200);
  return reply.json as Page;
}

async function refused(path: string): Promise<void> {
  const reply = await ann.send("GET", path);
  expect([path, reply.status]).toEqual([path, 400]);
  expect(reply.json).toEqual({ error: "Bad Request", message: expect.stringMatching(/.{10,}/) });
}

const queryOf = (token: Token): string =>
  new URLSearchParams({
    lastEvaluatedKeyCollectionId: token["collectionId"] as string,
    lastEvaluatedKeyStatus: token["status"] as string,
    lastEvaluatedKeyCreatedAt: token["createdAt"] as string,
  }).toString();

describe.each(["collection", "collections"])("the list of collections at /%s", (segment) => {
  const at = `/repository/${repository}/${segment}`;

  it("R-LISA-06 walks all pages by the fields of the token, each collection once, also when one is made meanwhile", async () => {
    const seen: string[] = [];
    let query = "pageSize=2";
    for (;;) {
      const { collections, lastEvaluatedKey, hasNextPage, pagination } = await page(`${at}?${query}`);
      seen.push(...collections.map(({ collectionId }) => collectionId as string));
      expect(pagination["totalCount"]).toBeGreaterThanOrEqual(4);
      expect(hasNextPage).toBe(lastEvaluatedKey !== null);
      if (lastEvaluatedKey === null) break;
      expect(Object.keys(lastEvaluatedKey).toSorted()).toEqual(["collectionId", "createdAt", "status"]);
      query = `pageSize=2&${queryOf(lastEvaluatedKey)}`;
      await ann.createCollection(repository, { name: `Late ${segment}` }).catch(() => undefined);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(ids));
  });

  it("R-LISA-73 filters by text and status and sorts, under the names of the interface and of the SDK", async () => {
    for (const query of ["filter=beta", "filterText=BETA"])
      expect((await page(`${at}?${query}`)).collections.map(({ name }) => name)).toEqual(["Beta"]);
    const named = (await page(`${at}?sortBy=name&sortOrder=asc&filter=things`)).collections.map(({ name }) => name);
    expect(named).toEqual(["Alpha", "Beta", "Gamma"]);
    expect((await page(`${at}?statusFilter=archived`)).collections).toEqual([]);
    expect((await page(`${at}?status=ACTIVE&filter=things`)).pagination).toEqual({
      totalCount: 3,
      currentPage: 1,
      totalPages: 1,
    });
    for (const wrong of ["status=gone", "sortBy=size", "sortOrder=up"]) await refused(`${at}?${wrong}`);
  });

  it("pages by number, and clamps the size to 1–100", async () => {
    const second = await page(`${at}?filter=things&sortBy=name&sortOrder=asc&pageSize=2&page=2`);
    expect(second.collections.map(({ name }) => name)).toEqual(["Gamma"]);
    expect(second).toMatchObject({
      pagination: { totalCount: 3, currentPage: 2, totalPages: 2 },
      hasNextPage: false,
      hasPreviousPage: true,
    });
    const sizes = async (size: string) => (await page(`${at}?filter=things&pageSize=${size}`)).collections.length;
    expect([await sizes("0"), await sizes("-5"), await sizes("1"), await sizes("100"), await sizes("101")]).toEqual([
      1, 1, 1, 3, 3,
    ]);
    for (const wrong of ["pageSize=ten", "page=0", "page=1001", "page=x"]) await refused(`${at}?${wrong}`);
  });

  it("R-LISA-06 refuses a token that is not of this list", async () => {
    const { lastEvaluatedKey: foreign } = await page(`/repository/${repository}/collection?pageSize=1&filter=things`);
    for (const token of ["lastEvaluatedKeyCollectionId=nonsense", queryOf(foreign as Token), "lastEvaluatedKey={"])
      await refused(`${at}?pageSize=1&${token}`);
    const whole = encodeURIComponent(JSON.stringify({ collectionId: "x" }));
    await refused(`${at}?lastEvaluatedKey=${whole}`);
  });
});

describe("the list of all collections", () => {
  it("R-LISA-74 goes over all repositories with one text as the token, and knows their names", async () => {
    const seen: string[] = [];
    let token = "";
    for (;;) {
      const reply = (await page(`/repository/collections?pageSize=2${token}`)) as unknown as Json & {
        collections: Json[];
        lastEvaluatedKey: string | null;
      };
      seen.push(
        ...reply.collections.map(
          ({ collectionId, repositoryName }) => `${String(repositoryName)}/${String(collectionId)}`,
        ),
      );
      expect(reply["pagination"]).toEqual({ totalCount: null, currentPage: null, totalPages: null });
      if (reply.lastEvaluatedKey === null) break;
      expect(JSON.parse(reply.lastEvaluatedKey)).toMatchObject({ version: "v1", offset: seen.length });
      token = `&lastEvaluatedKey=${encodeURIComponent(reply.lastEvaluatedKey)}`;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(ids.map((id) => `${repository}/${id}`)));
    expect(seen.some((one) => one.startsWith("other/"))).toBe(true);
  });

  it("R-LISA-74 a token with another filter or order is refused, never a mixture", async () => {
    const { lastEvaluatedKey } = await page("/repository/collections?pageSize=1");
    const token = encodeURIComponent(lastEvaluatedKey as unknown as string);
    for (const other of ["filter=a", "sortBy=name", "sortOrder=asc"])
      await refused(`/repository/collections?pageSize=1&${other}&lastEvaluatedKey=${token}`);
    await refused("/repository/collections?lastEvaluatedKey=nonsense");
    await refused('/repository/collections?lastEvaluatedKey={"version":"v1","offset":20}');
  });
});

describe("documents and jobs", () => {
  const documents: Json[] = [];
  beforeAll(async () => {
    for (const [i, id] of [ids[0], ids[0], ids[1]].entries())
      documents.push(await ingested(ann, repository, id as string, `d${i}.txt`, `the text number ${i}`));
  });

  interface Documents extends Json {
    readonly documents: readonly Json[];
    readonly lastEvaluated: Token | null;
  }

  async function walk(query: string): Promise<readonly unknown[]> {
    const seen: unknown[] = [];
    let token = "";
    for (let first = true; ; first = false) {
      const reply = (await page(
        `/repository/${repository}/document?pageSize=1${query}${token}`,
      )) as unknown as Documents;
      expect(reply).toMatchObject({ hasNextPage: reply.lastEvaluated !== null, hasPreviousPage: !first });
      seen.push(...reply.documents.map(({ document_name }) => document_name));
      if (reply.lastEvaluated === null) return seen;
      const { pk, document_id, repository_id } = reply.lastEvaluated;
      token = `&${new URLSearchParams({
        lastEvaluatedKeyPk: pk as string,
        lastEvaluatedKeyDocumentId: document_id as string,
        lastEvaluatedKeyRepositoryId: repository_id as string,
      }).toString()}`;
    }
  }

  it("R-LISA-30 the documents of a collection, newest first, by its id or its name, with their exact number", async () => {
    expect(await walk(`&collectionId=${ids[0]}`)).toEqual(["d1.txt", "d0.txt"]);
    expect(await walk("&collectionId=Alpha")).toEqual(["d1.txt", "d0.txt"]);
    const { totalDocuments } = await page(`/repository/${repository}/document?collectionId=Alpha&pageSize=1`);
    expect(totalDocuments).toBe(2);
  });

  it("the documents of a whole repository, each once", async () => {
    expect((await walk("")).toSorted()).toEqual(["d0.txt", "d1.txt", "d2.txt"]);
    expect((await page(`/repository/${repository}/document`))["totalDocuments"]).toBe(3);
  });

  it("refuses tokens of another list, and half of one", async () => {
    const at = `/repository/${repository}/document?collectionId=${ids[1]}`;
    const pk = encodeURIComponent(`${repository}#${ids[0]}`);
    await refused(`${at}&lastEvaluatedKeyPk=${pk}`);
    await refused(`${at}&lastEvaluatedKeyPk=${pk}&lastEvaluatedKeyDocumentId=x&lastEvaluatedKeyRepositoryId=paging`);
    const own = encodeURIComponent(`${repository}#${ids[1]}`);
    await refused(`${at}&lastEvaluatedKeyPk=${own}&lastEvaluatedKeyDocumentId=x&lastEvaluatedKeyRepositoryId=paging`);
  });

  it("R-LISA-78 lists jobs newest first, one's own unless one is an admin, with what became of each document", async () => {
    const at = `/repository/${repository}/jobs`;
    const { jobs, lastEvaluatedKey } = (await page(`${at}?timeLimit=1&pageSize=2`)) as unknown as {
      jobs: Json[];
      lastEvaluatedKey: Json;
    };
    expect(jobs.map(({ document_name }) => document_name)).toEqual(["d2.txt", "d1.txt"]);
    expect(jobs[0]).toEqual({
      id: expect.any(String),
      s3_path: documents[2]?.["source"],
      document_id: documents[2]?.["document_id"],
      document_name: "d2.txt",
      collection_id: ids[1],
      repository_id: repository,
      chunk_strategy: expect.any(Object),
      embedding_model: "all-MiniLM-L6-v2",
      username: "ann",
      ingestion_type: "manual",
      status: "INGESTION_COMPLETED",
      created_date: expect.any(String),
      error_message: null,
      auto: false,
      metadata: null,
      job_type: "document_ingestion",
      collection_deletion: false,
      s3_paths: [documents[2]?.["source"]],
      document_ids: [documents[2]?.["document_id"]],
    });
    expect(Object.keys(lastEvaluatedKey).toSorted()).toEqual(["created_date", "id", "repository_id"]);
    const token = encodeURIComponent(JSON.stringify(lastEvaluatedKey));
    const rest = await page(`${at}?timeLimit=1&pageSize=2&lastEvaluatedKey=${token}`);
    expect((rest["jobs"] as Json[]).map(({ document_name }) => document_name)).toEqual(["d0.txt"]);
    expect(rest).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const ben = await world.client("ben");
    expect((await ben.send("GET", at)).json).toMatchObject({ jobs: [] });
    const other = encodeURIComponent(JSON.stringify({ ...lastEvaluatedKey, repository_id: "other" }));
    for (const wrong of [other, "%7B%7D", "nonsense"]) await refused(`${at}?lastEvaluatedKey=${wrong}`);
    await refused(`${at}?timeLimit=soon`);
  });
});
