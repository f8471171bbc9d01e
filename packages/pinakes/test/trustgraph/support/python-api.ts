/**
 * What TrustGraph's Python client sends and how it reads answers, request by request (trustgraph.api of 1.4 and of 2.8): POST of JSON to
 * `api/v1/<kind>`, an exception where the status is not 200, and another where the answer has the key `error`.
 */
import type { Json, TestServer } from "../../http/support/server.ts";

export class ProtocolException extends Error {}
export class ApplicationException extends Error {}

export interface PythonApi {
  request(kind: string, body: Json): Promise<Json>;
}

/** `token`: as newer clients. `url`: what stands before `api/v1/`, with the key in it, or as the password of the address. */
export function pythonApi(
  server: Pick<TestServer, "call">,
  { token, path = "", password }: { readonly token?: string; readonly path?: string; readonly password?: string },
): PythonApi {
  const authorization =
    token === undefined
      ? password === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(`x:${password}`).toString("base64")}` }
      : { authorization: `Bearer ${token}` };
  return {
    request: async (kind, body) => {
      const { status, json, text } = await server.call("POST", `${path}/api/v1/${kind}`, {
        body,
        headers: authorization,
      });
      if (status !== 200) throw new ProtocolException(`Status code ${status}: ${text}`);
      if ("error" in json) {
        const { message, type } = json["error"] as { message: string; type: string };
        throw new ApplicationException(`${type}: ${message}`);
      }
      return json;
    },
  };
}

/** The client of 1.4: a user with every call. */
export function oldClient(api: PythonApi, user: string) {
  const collections = (body: Json) => api.request("collection-management", { ...body, user });
  const library = (body: Json) => api.request("librarian", body);
  return {
    listCollections: async (tag_filter?: readonly string[]) =>
      collectionsOf(
        await collections({ operation: "list-collections", ...(tag_filter === undefined ? {} : { tag_filter }) }),
      ),
    updateCollection: async (collection: string, more: Json = {}) =>
      collectionsOf(await collections({ operation: "update-collection", collection, ...more }))[0] as Json,
    deleteCollection: (collection: string) => collections({ operation: "delete-collection", collection }),
    addDocument: (id: string, content: string | Uint8Array, more: Json = {}) =>
      library({
        operation: "add-document",
        "document-metadata": { ...documentMetadata(id), user, ...more },
        content: Buffer.from(content).toString("base64"),
      }),
    getDocuments: async () => (await library({ operation: "list-documents", user }))["document-metadatas"] as Json[],
    library: (body: Json) => library({ ...body, user }),
    startProcessing: (id: string, document: string, collection: string) =>
      library({
        operation: "add-processing",
        "processing-metadata": {
          id,
          "document-id": document,
          time: 1_758_200_000,
          flow: "default",
          user,
          collection,
          tags: [],
        },
      }),
    flow: (service: string, body: Json) => api.request(`flow/default/service/${service}`, { ...body, user }),
    knowledge: (body: Json) => api.request("knowledge", { ...body, user }),
  };
}

/** The client of 2.8: a workspace with every call. */
export function newClient(api: PythonApi, workspace = "default") {
  const request = (kind: string, body: Json) => api.request(kind, { workspace, ...body });
  return {
    collections: (body: Json) => request("collection-management", body),
    library: (body: Json) => request("librarian", body),
    flow: (service: string, body: Json) => request(`flow/default/service/${service}`, body),
    flows: (body: Json) => request("flow", body),
    knowledge: (body: Json) => request("knowledge", body),
  };
}

function documentMetadata(id: string): Json {
  return { id, time: 1_758_200_000, kind: "text/plain", title: "A title", comments: "", metadata: [], tags: ["t"] };
}

/** The client's own reading: it needs all seven fields. */
function collectionsOf(answer: Json): readonly Json[] {
  return (answer["collections"] as Json[]).map((one) => {
    for (const field of ["user", "collection", "name", "description", "tags", "created_at", "updated_at"])
      if (!(field in one)) throw new ProtocolException("Response not formatted correctly");
    return one;
  });
}
