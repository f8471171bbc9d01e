/** Containers over HTTP. */
import type { ContainersApi } from "../api/containers-api.ts";
import type { BatchOperation, BulkOperation, PartitionKey } from "../contract/containers.ts";
import { path, type Requester, type RequestOptions } from "./request.ts";

export function httpContainers(http: Requester): ContainersApi {
  const at = (name: string, rest: string): string => path`/v1/containers/${name}` + rest;
  const item = (name: string, id: string): string => path`/v1/containers/${name}/items/${id}`;
  return {
    list: () => http.json("GET", "/v1/containers"),
    put: (name, spec, { ifMatch, ifNoneMatch } = {}) =>
      http.json("PUT", at(name, ""), {
        body: spec,
        ifMatch,
        // If the response of a create is lost, a retry would report that the document already exists.
        ...(ifNoneMatch === undefined ? { repeatable: true } : { headers: { "if-none-match": ifNoneMatch } }),
      }),
    get: (name) => http.json("GET", at(name, "")),
    delete: (name) => http.json("DELETE", at(name, "")),
    indexes: (name) => http.json("GET", at(name, "/indexes")),
    create: (name, document) =>
      http.json("POST", at(name, "/items"), { body: document, idempotencyKey: crypto.randomUUID() }),
    upsert: (name, document, options = {}) =>
      http.json("POST", at(name, "/items"), {
        query: { upsert: true },
        body: document,
        ifMatch: options.ifMatch,
        // With an id the same document is written however often it is sent; without one, each time another.
        ...(document.id === undefined ? { idempotencyKey: crypto.randomUUID() } : { repeatable: true }),
      }),
    replace: (name, document, options = {}) =>
      http.json("PUT", item(name, document.id), { body: document, ifMatch: options.ifMatch }),
    read: (name, pk, id) => http.json("GET", item(name, id), { query: { pk: pkText(pk) } }),
    patch: (name, pk, id, operations, options = {}) =>
      http.json("PATCH", item(name, id), {
        query: { pk: pkText(pk) },
        body: { operations, condition: options.condition },
        ifMatch: options.ifMatch,
      }),
    deleteItem: (name, pk, id, options = {}) =>
      http.json("DELETE", item(name, id), { query: { pk: pkText(pk) }, ifMatch: options.ifMatch }),
    readMany: (name, keys) => http.json("POST", at(name, "/items:readMany"), { body: { keys }, repeatable: true }),
    batch: (name, pk, operations) =>
      http.json("POST", at(name, "/batch"), { body: { pk, operations }, ...repeating(operations) }),
    bulk: (name, operations) =>
      http.json("POST", at(name, "/bulk"), { text: { type: "application/x-ndjson", content: ndjson(operations) } }),
    query: (name, query) => http.json("POST", at(name, "/query"), { body: query, repeatable: true }),
    explain: (name, query) => http.json("POST", at(name, "/query:explain"), { body: query, repeatable: true }),
    changes: (name, query = {}) => http.json("GET", at(name, "/changes"), { query: { ...query } }),
    deletePartition: (name, pk) =>
      http.json("DELETE", at(name, `/partitions/${encodeURIComponent(pkText(pk))}`), { repeatable: true }),
  };
}

/** A batch that writes the same however often it is sent needs no key, and the server no record of it. */
function repeating(operations: readonly BatchOperation[]): RequestOptions {
  const same = operations.every(
    (operation) => operation.op !== "create" && (operation.op !== "patch" || operation.if_match !== undefined),
  );
  return same ? { repeatable: true } : { idempotencyKey: crypto.randomUUID() };
}

/** A string is sent unchanged; anything else, and a string that looks like JSON, as a JSON list. */
function pkText(pk: PartitionKey): string {
  return typeof pk === "string" && !pk.startsWith("[") ? pk : JSON.stringify(Array.isArray(pk) ? pk : [pk]);
}

function ndjson(operations: readonly BulkOperation[]): string {
  return operations.map((operation) => `${JSON.stringify(operation)}\n`).join("");
}
