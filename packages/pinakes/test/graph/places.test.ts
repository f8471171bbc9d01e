/**
 * Many concurrent queries over HTTP: a workspace has a limited number of running and waiting ones, the rest is 429; others are answered
 * meanwhile.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { newSite, openTestServer, type Site } from "../http/support/server.ts";
import { forAllTests } from "../support/for-tests.ts";

const quotas = { queriesMax: 3, queriesPerWorkspaceMax: 2, queriesWaitingPerWorkspaceMax: 4 };
const keys: Record<string, string> = {};
const server = forAllTests(() => openTestServer("memory", { quotas }));
beforeAll(async () => {
  for (const workspace of ["greedy", "modest"])
    keys[workspace] = await server.key(workspace, "boss", { role: "admin" });
});

const triples = Array.from({ length: 300 }, (_, i) => `<a:${i}> <a:p> ${i} .`).join("\n");
const endless = "SELECT (COUNT(*) AS ?c) { ?a ?b ?c1 . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";

async function filled(workspace: string): Promise<Site> {
  const site = await newSite(server, keys[workspace] as string);
  await server.call("POST", `${site.at}/triples`, {
    key: site.key,
    body: triples,
    headers: { "content-type": "text/turtle" },
  });
  return site;
}

const ask = ({ key, at }: Site, query: string, signal?: AbortSignal) =>
  server.call("GET", `${at}/sparql?${new URLSearchParams({ query, timeout_ms: "300000" }).toString()}`, {
    key,
    ...(signal === undefined ? {} : { signal }),
  });

describe("R-TG-125 concurrent queries of many clients", () => {
  it("fifty endless joins: all but those that run and wait are 429 with Retry-After, another workspace is answered, and disconnected clients free their slots", async () => {
    const [greedy, modest] = [await filled("greedy"), await filled("modest")];
    const gone = new AbortController();
    const told: { readonly status: number; readonly code: unknown; readonly retry: string | null }[] = [];
    const all = Array.from({ length: 50 }, () =>
      ask(greedy, endless, gone.signal).then(
        ({ status, json, headers }) =>
          void told.push({ status, code: json["code"], retry: headers.get("retry-after") }),
        () => {},
      ),
    );
    const shed = 50 - quotas.queriesPerWorkspaceMax - quotas.queriesWaitingPerWorkspaceMax;
    await expect.poll(() => told.length).toBeGreaterThanOrEqual(shed);
    expect(told.slice(0, shed)).toEqual(
      Array.from({ length: shed }, () => ({ status: 429, code: "THROTTLED", retry: "1" })),
    );
    // Its slots and queue are full, so one more is refused, and all of another workspace's are answered.
    for (let i = 0; i < 5; i += 1)
      expect(await ask(modest, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")).toMatchObject({ status: 200 });
    expect(await server.call("GET", "/v1/me", { key: keys["greedy"] })).toMatchObject({ status: 200 });
    gone.abort();
    await Promise.all(all);
    await expect.poll(async () => (await ask(greedy, "ASK { ?s ?p 7 }")).json["boolean"]).toBe(true);
  });

  it("queries share slots with updates and SQL", async () => {
    const site = await filled("greedy");
    const container = await server.call("PUT", "/v1/containers/notes", {
      key: site.key,
      body: { partition_key: "/kind" },
    });
    expect(container.status).toBe(200);
    const gone = new AbortController();
    const running = Array.from({ length: quotas.queriesPerWorkspaceMax }, () =>
      ask(site, endless, gone.signal).catch(() => {}),
    );
    const sql = () =>
      server.call("POST", "/v1/containers/notes/query", { key: site.key, body: { query: "SELECT * FROM c" } });
    const update = () =>
      server.call("POST", `${site.at}/sparql`, {
        key: site.key,
        body: "INSERT DATA { <a:x> <a:y> 1 }",
        headers: { "content-type": "application/sparql-update" },
      });
    // Once both slots are taken, they wait, and get none.
    await expect.poll(async () => (await sql()).status).toBe(429);
    expect((await update()).status).toBe(429);
    gone.abort();
    await Promise.all(running);
    await expect.poll(async () => (await sql()).status).toBe(200);
    expect(await update()).toMatchObject({ status: 200, json: { inserted: 1 } });
  });
});
