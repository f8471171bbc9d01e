/** Erasures, receipts, legal holds and subject exports over HTTP. */
import type { GovernanceApi } from "../api/governance-api.ts";
import type { LegalHold, RetentionRule } from "../contract/governance.ts";
import { path, type Requester } from "./request.ts";

/** Counting reads every row of the workspace, so its duration depends on the amount of data. */
const counts = { timeoutMs: undefined } as const;

export function httpGovernance(http: Requester): GovernanceApi {
  return {
    erasures: {
      request: (input) =>
        http.json("POST", "/v1/erasures", { body: input, idempotencyKey: crypto.randomUUID(), ...counts }),
      get: (erasureId) => http.json("GET", path`/v1/erasures/${erasureId}`),
      list: (query = {}) => http.json("GET", "/v1/erasures", { query: { ...query } }),
      verify: (erasureId, input) =>
        http.json("POST", `${path`/v1/erasures/${erasureId}`}:verify`, { body: input, repeatable: true, ...counts }),
    },
    receipts: {
      get: (erasureId) => http.json("GET", path`/v1/erasures/${erasureId}/receipt`),
      list: (query = {}) => http.json("GET", "/v1/erasure-receipts", { query: { ...query } }),
      key: () => http.json("GET", "/v1/erasure-receipts/key"),
    },
    holds: {
      create: (input) =>
        http.json("POST", "/v1/legal-holds", { body: input, idempotencyKey: crypto.randomUUID(), ...counts }),
      get: (holdId) => http.json("GET", path`/v1/legal-holds/${holdId}`),
      list: async () => (await http.json<{ readonly items: readonly LegalHold[] }>("GET", "/v1/legal-holds")).items,
      release: (holdId) => http.json("DELETE", path`/v1/legal-holds/${holdId}`),
    },
    retention: {
      list: async () => (await http.json<{ readonly items: readonly RetentionRule[] }>("GET", "/v1/retention")).items,
      get: (name) => http.json("GET", path`/v1/retention/${name}`),
      preview: (name, seconds) =>
        http.json("POST", "/v1/retention:preview", { body: { name, seconds }, repeatable: true, ...counts }),
      set: (name, change) => http.json("PUT", path`/v1/retention/${name}`, { body: change }),
    },
    subjectExports: {
      create: (input) =>
        http.json("POST", "/v1/subjects:export", { body: input, idempotencyKey: crypto.randomUUID(), ...counts }),
      get: (exportId) => http.json("GET", path`/v1/subject-exports/${exportId}`),
      list: (query = {}) => http.json("GET", "/v1/subject-exports", { query: { ...query } }),
      part: async (exportId, part, { start = 0, signal } = {}) => {
        const range: Readonly<Record<string, string>> = start === 0 ? {} : { range: `bytes=${start}-` };
        const at = path`/v1/subject-exports/${exportId}/parts/${part}`;
        const response = await http.stream(at, { accept: "*/*", headers: range, signal });
        return response.body ?? new Blob([]).stream();
      },
      delete: (exportId) => http.json("DELETE", path`/v1/subject-exports/${exportId}`),
    },
  };
}
