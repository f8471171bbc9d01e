/**
 * Everything that computes much takes a place: so many of a workspace run, so many wait, the rest is 429; other workspaces are answered
 * meanwhile, and whoever goes leaves no place taken. Places are taken by the test itself, so nothing depends on how long a call takes.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { QuerySlot } from "../../src/domain/query-slots.ts";
import { readQuotas } from "../../src/knowledge/index.ts";
import { newSite, openTestServer, sendAndSettle, type CallOptions, type Reply, type Site } from "./support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const kinds = ["queries", "searches", "exports", "evaluations"] as const;
type Kind = (typeof kinds)[number];
const bounds = (kind: Kind) => ({
  [`${kind}Max`]: 2,
  [`${kind}PerWorkspaceMax`]: 1,
  [`${kind}WaitingPerWorkspaceMax`]: 1,
});
const quotas = {
  ...Object.assign({}, ...kinds.map(bounds)),
  placeWaitMsMax: 600_000,
  queryMemoryPerWorkspaceBytesMax: 200_000,
} as Record<string, number>;

const sites: Record<string, Site> = {};
const evaluations: Record<string, string> = {};
const server = forAllTests(() => openTestServer("memory", { quotas }));
beforeAll(async () => {
  for (const workspace of ["greedy", "modest"]) {
    const key = await server.key(workspace, "boss", { role: "admin" });
    const site = await newSite(server, key);
    sites[workspace] = site;
    const { document_id } = await sendAndSettle(site, "otter.txt", "otters live in rivers");
    await server.call("POST", `${site.at}/vectors:upsert`, { key, body: { items: [{ id: "r", vector: [1, 0] }] } });
    const text = Array.from({ length: 120 }, (_, i) => `<a:${i}> <a:p> "${"x".repeat(20_000)}" .`).join("\n");
    await server.call("POST", `${site.at}/triples`, { key, body: text, headers: { "content-type": "text/turtle" } });
    await server.call("PUT", "/v1/containers/notes", { key, body: { partition_key: "/kind" } });
    const made = await server.call("POST", "/v1/evaluations", {
      key,
      body: {
        name: "e",
        collections: [{ repository: site.repository, collection: site.collection }],
        queries: [{ query: "otters", relevant: [{ document_id }] }],
      },
    });
    evaluations[workspace] = made.json["evaluation_id"] as string;
  }
});

type Ask = (site: Site, workspace: string, more?: Pick<CallOptions, "signal">) => Promise<Reply>;
const range = "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z";
const calls: readonly (readonly [name: string, kind: Kind, ask: Ask])[] = [
  [
    "search",
    "searches",
    ({ key }, _, more) => server.call("POST", "/v1/search", { key, body: { query: "otters" }, ...more }),
  ],
  [
    "search of a collection",
    "searches",
    ({ key, at }, _, more) => server.call("POST", `${at}/search`, { key, body: { query: "otters" }, ...more }),
  ],
  [
    "vectors:query",
    "searches",
    ({ key, at }, _, more) => server.call("POST", `${at}/vectors:query`, { key, body: { vector: [1, 0] }, ...more }),
  ],
  [
    "memories:search",
    "searches",
    ({ key }) => server.call("POST", "/v1/memories:search", { key, body: { query: "otters", agent_id: "a" } }),
  ],
  [
    "triples as RDF",
    "exports",
    ({ key, at }, _, more) => server.call("GET", `${at}/triples`, { key, headers: { accept: "text/turtle" }, ...more }),
  ],
  [
    "tool invocations",
    "exports",
    ({ key }) => server.call("GET", `/v1/tool-invocations:export?format=ndjson&${range}`, { key }),
  ],
  [
    "SQL",
    "queries",
    ({ key }) => server.call("POST", "/v1/containers/notes/query", { key, body: { query: "SELECT * FROM c" } }),
  ],
  [
    "an aggregate of metrics",
    "queries",
    ({ key }) => server.call("POST", "/v1/metrics:aggregate", { key, body: { aggregates: ["count"] } }),
  ],
  [
    "an aggregate of tool invocations",
    "queries",
    ({ key }) => server.call("POST", "/v1/tool-invocations:aggregate", { key, body: { aggregates: ["count"] } }),
  ],
  [
    "a run of an evaluation",
    "evaluations",
    ({ key }, workspace, more) =>
      server.call("POST", `/v1/evaluations/${evaluations[workspace]}:run`, { key, body: {}, ...more }),
  ],
];

const greedy = () => sites["greedy"] as Site;
const modest = () => sites["modest"] as Site;
const usage = (kind: Kind) => server.pinakes.places[kind].usage;
const nothing = { places: 0, waiting: 0, bytes: 0 };

describe.each(calls)("%s", (_name, kind, ask) => {
  it("at the limit it waits and is answered; one past it is 429 with Retry-After; another workspace is not concerned", async () => {
    const place: QuerySlot = await server.pinakes.places[kind].enter("greedy");
    const waiting = ask(greedy(), "greedy");
    await expect.poll(() => usage(kind).waiting).toBe(1);
    const refused = await ask(greedy(), "greedy");
    expect(refused).toMatchObject({
      status: 429,
      json: { code: "THROTTLED", detail: expect.stringContaining("At most 1") as string },
    });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await ask(modest(), "modest")).status).toBeLessThan(300);
    place.leave();
    expect((await waiting).status).toBeLessThan(300);
    await expect.poll(() => usage(kind)).toEqual(nothing);
  });
});

describe("a place is given back", () => {
  it.each(
    calls.filter(([name]) => ["search", "vectors:query", "triples as RDF", "a run of an evaluation"].includes(name)),
  )("%s: by a client that goes while it waits", async (_name, kind, ask) => {
    const place = await server.pinakes.places[kind].enter("greedy");
    const gone = new AbortController();
    const waiting = ask(greedy(), "greedy", { signal: gone.signal }).catch(() => {});
    await expect.poll(() => usage(kind).waiting).toBe(1);
    gone.abort();
    await waiting;
    await expect.poll(() => usage(kind)).toEqual({ ...nothing, places: 1 });
    place.leave();
    expect((await ask(greedy(), "greedy")).status).toBeLessThan(300);
    await expect.poll(() => usage(kind)).toEqual(nothing);
  });

  it("by a search, a query and a run that fail", async () => {
    const { key, at } = greedy();
    expect(
      (await server.call("POST", "/v1/search", { key, body: { query: "x", filter: { a: { nonsense: 1 } } } })).status,
    ).toBe(400);
    expect((await server.call("POST", `${at}/vectors:query`, { key, body: { vector: [1, 2, 3] } })).status).toBe(400);
    expect((await server.call("POST", "/v1/containers/notes/query", { key, body: { query: "SELECT" } })).status).toBe(
      400,
    );
    expect((await server.call("POST", "/v1/evaluations/none:run", { key, body: {} })).status).toBe(404);
    expect(kinds.map(usage)).toEqual(kinds.map(() => nothing));
  });

  it("by a client that leaves an export in the middle", async () => {
    const { key, at } = greedy();
    const response = await server.raw("GET", `${at}/triples`, { key, headers: { accept: "text/turtle" } });
    const reader = response.body?.getReader();
    await reader?.read();
    // More than is read ahead: the export is under way.
    expect(usage("exports").places).toBe(1);
    await reader?.cancel();
    await expect.poll(() => usage("exports")).toEqual(nothing);
  });
});

describe("memory", () => {
  it("of SQL counts with that of all queries: what sorts more than there is room for is 429, a smaller page is answered", async () => {
    const { key } = greedy();
    for (let i = 0; i < 60; i += 1)
      await server.call("POST", "/v1/containers/notes/items", {
        key,
        body: { id: `n${i}`, kind: "k", n: i % 7, text: "y".repeat(5_000) },
      });
    const sorted = (limit: number) =>
      server.call("POST", "/v1/containers/notes/query", {
        key,
        body: { query: "SELECT * FROM c ORDER BY c.n, c.text", limit },
      });
    expect(await sorted(50)).toMatchObject({
      status: 429,
      json: { code: "THROTTLED", detail: expect.stringContaining("200000 bytes") as string },
    });
    expect(await sorted(3)).toMatchObject({ status: 200 });
    const distinct = await server.call("POST", "/v1/containers/notes/query", {
      key,
      body: { query: "SELECT DISTINCT c.id, c.text FROM c" },
    });
    expect(distinct.status).toBe(429);
    expect(usage("queries")).toEqual(nothing);
  });
});

it("the figures tell what runs and what waits", async () => {
  const place = await server.pinakes.places.searches.enter("greedy");
  const { text } = await server.call("GET", "/metrics", { key: undefined });
  expect(text).toContain('pinakes_slots_in_use{kind="searches"} 1');
  expect(text).toContain('pinakes_slots_waiting{kind="exports"} 0');
  place.leave();
});

it("limits are whole numbers from 1 to 100,000", () => {
  for (const kind of kinds)
    for (const name of Object.keys(bounds(kind))) {
      for (const value of [1, 100_000]) expect(readQuotas({ [name]: value })).toEqual({ [name]: value });
      for (const value of [0, -1, 1.5, 100_001, "4"])
        expect(() => readQuotas({ [name]: value }), `${name} ${value}`).toThrow(
          `quotas.${name}: must be a whole number from 1`,
        );
    }
  for (const value of [1, 600_000]) expect(readQuotas({ placeWaitMsMax: value })).toEqual({ placeWaitMsMax: value });
  for (const value of [0, 600_001])
    expect(() => readQuotas({ placeWaitMsMax: value })).toThrow("quotas.placeWaitMsMax: must be a whole number from 1");
});

it("who waits longer than the limit for a place is 429", async () => {
  await using impatient = await openTestServer("memory", { quotas: { searchesPerWorkspaceMax: 1, placeWaitMsMax: 1 } });
  const key = await impatient.key("w", "boss", { role: "admin" });
  const place = await impatient.pinakes.places.searches.enter("w");
  const refused = await impatient.call("POST", "/v1/search", { key, body: { query: "otters" } });
  expect(refused).toMatchObject({
    status: 429,
    json: { detail: expect.stringContaining("The searches ahead of this one take long") as string },
  });
  place.leave();
  expect((await impatient.call("POST", "/v1/search", { key, body: { query: "otters" } })).status).toBe(200);
});
