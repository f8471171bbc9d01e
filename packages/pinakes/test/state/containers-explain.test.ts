/** Every path that an indexing policy includes is served by an index, or `explain` says why its queries scan. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestServer, type TestServer } from "../http/support/server.ts";

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await openTestServer();
  key = await server.key("w1", "boss", { role: "admin" });
});
afterAll(() => server[Symbol.asyncDispose]());

const names = Array.from({ length: 20 }, (_, i) => `many${i}`);
const compositeIndexes = [
  [
    { path: "/team", order: "ascending" },
    { path: "/score", order: "descending" },
  ],
];
/** Included path → a query by it. */
const policies: Readonly<
  Record<string, { readonly policy: object; readonly queries: Readonly<Record<string, string>> }>
> = {
  values: {
    policy: { includedPaths: [{ path: "/name/?" }, { path: "/address/zip/?" }], excludedPaths: [{ path: "/*" }] },
    queries: { "/name/?": "c.name = 'x'", "/address/zip/?": "c.address.zip = 1" },
  },
  composite: {
    policy: { includedPaths: [{ path: "/*" }], compositeIndexes },
    queries: { "/team, /score": "c.team = 'a' AND c.score > 1" },
  },
  everything: {
    policy: { includedPaths: [{ path: "/*" }] },
    queries: { "/*": "c.anything = 1", "/* below": "c.a.b.c = 1", "/* array": "ARRAY_CONTAINS(c.list, 1)" },
  },
  below: {
    policy: { includedPaths: [{ path: "/address/*" }, { path: "/tags/[]/?" }], excludedPaths: [{ path: "/*" }] },
    queries: { "/address/*": "c.address.street = 'x'", "/tags/[]/?": "ARRAY_CONTAINS(c.tags, 'x')" },
  },
  many: {
    policy: { includedPaths: names.map((name) => ({ path: `/${name}/?` })), excludedPaths: [{ path: "/*" }] },
    queries: Object.fromEntries(names.map((name) => [`/${name}/?`, `c.${name} = 1`])),
  },
};
/** 15 indexes at most, one of them for scans. */
const served: Readonly<Record<string, number>> = { values: 2, composite: 1, everything: 0, below: 0, many: 14 };

it.each(Object.keys(policies))("R-AGT-61 %s: an index, or the reason why every item is read", async (name) => {
  const { policy, queries } = policies[name] as (typeof policies)[string];
  const body = { partition_key: "/p", indexing_policy: policy };
  const made = await server.call("PUT", `/v1/containers/${name}`, { key, body });
  expect(made.status, made.text).toBeLessThan(300);
  let indexed = 0;
  for (const [path, filter] of Object.entries(queries)) {
    const query = `SELECT * FROM c WHERE ${filter}`;
    const { json } = await server.call("POST", `/v1/containers/${name}/query:explain`, { key, body: { query } });
    if (json["access"] === "index") {
      expect([path, json["evaluated"], json["advice"]]).toEqual([path, [], null]);
      indexed += 1;
    } else {
      expect([path, json["access"]]).toEqual([path, "scan"]);
      expect(json["advice"]).toMatch(/^Every item is read; /);
    }
  }
  expect(indexed).toBe(served[name]);
});
