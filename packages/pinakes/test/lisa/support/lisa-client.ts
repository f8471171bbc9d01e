/**
 * What LISA's SDK 6.6.0 sends, call by call: the same paths, parameters, headers and bodies, and the same statuses taken for success. The
 * SDK itself is a Python package; its tests run by hand against a started server (docs/lisa.md).
 */
import { readReply, type Json, type Reply } from "../../http/support/server.ts";

export class LisaError extends Error {
  readonly status: number;
  readonly body: Json;

  constructor({ status, json, text }: Reply) {
    super(text);
    this.status = status;
    this.body = json;
  }
}

type Params = Readonly<Record<string, string | number>>;

export interface Link {
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly key: string;
}

export class LisaClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** The SDK's headers are its user's: a bare key, under both names. */
  constructor(url: string, key: string, headers: Readonly<Record<string, string>> = sdkHeaders(key)) {
    this.#url = url;
    this.#headers = headers;
  }

  async send(
    method: string,
    path: string,
    { params, json, data, headers }: { params?: Params; json?: unknown; data?: string; headers?: Params } = {},
  ): Promise<Reply> {
    const query = params === undefined ? "" : `?${new URLSearchParams(params as Record<string, string>).toString()}`;
    const response = await fetch(`${this.#url}${path}${query}`, {
      method,
      headers: {
        "user-agent": "python-requests/2.34.2",
        accept: "*/*",
        ...this.#headers,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(headers as Record<string, string>),
      },
      ...(json === undefined && data === undefined ? {} : { body: data ?? JSON.stringify(json) }),
    });
    return readReply(response);
  }

  async #answer<Answer = Json>(
    method: string,
    path: string,
    options: Parameters<LisaClient["send"]>[2] = {},
    taken: readonly number[] = [200],
  ): Promise<Answer> {
    const reply = await this.send(method, path, options);
    if (!taken.includes(reply.status)) throw new LisaError(reply);
    return reply.json as Answer;
  }

  async listModels(): Promise<readonly Json[]> {
    return (await this.#answer("GET", "/models"))["models"] as Json[];
  }

  async listEmbeddingModels(): Promise<readonly Json[]> {
    return (await this.listModels()).filter(({ modelType }) => modelType === "embedding");
  }

  async listDocs(): Promise<string> {
    const reply = await this.send("GET", "/docs");
    if (reply.status !== 200) throw new LisaError(reply);
    return reply.text;
  }

  listRepositories(): Promise<readonly Json[]> {
    return this.#answer("GET", "/repository");
  }

  createRepository(config: Json): Promise<Json> {
    return this.#answer("POST", "/repository", { json: config }, [200, 201]);
  }

  async deleteRepository(repository: string): Promise<void> {
    await this.#answer("DELETE", `/repository/${repository}`, {}, [200, 204]);
  }

  getRepositoryStatus(): Promise<Json> {
    return this.#answer("GET", "/repository/status");
  }

  getConfigs(): Promise<readonly Json[]> {
    return this.#answer("GET", "/configuration?configScope=global");
  }

  listSessions(): Promise<readonly Json[]> {
    return this.#answer("GET", "/session");
  }

  createCollection(repository: string, fields: Json): Promise<Json> {
    const json = { allowChunkingOverride: false, ...fields };
    return this.#answer("POST", `/repository/${repository}/collection`, { json }, [200, 201]);
  }

  getCollection(repository: string, collection: string): Promise<Json> {
    return this.#answer("GET", `/repository/${repository}/collection/${collection}`);
  }

  updateCollection(repository: string, collection: string, json: Json): Promise<Json> {
    return this.#answer("PUT", `/repository/${repository}/collection/${collection}`, { json });
  }

  async deleteCollection(repository: string, collection: string): Promise<void> {
    await this.#answer("DELETE", `/repository/${repository}/collection/${collection}`, {}, [200, 204]);
  }

  listCollections(repository: string, more: Params = {}): Promise<Json> {
    const params = { page: 1, pageSize: 20, sortBy: "createdAt", sortOrder: "desc", ...more };
    return this.#answer("GET", `/repository/${repository}/collections`, { params });
  }

  async getUserCollections(more: Params = {}): Promise<readonly Json[]> {
    const params = { pageSize: 20, sortBy: "createdAt", sortOrder: "desc", ...more };
    return (await this.#answer("GET", "/repository/collections", { params }))["collections"] as Json[];
  }

  async listDocuments(repository: string, collection: string): Promise<readonly Json[]> {
    const params = { collectionId: collection };
    return (await this.#answer("GET", `/repository/${repository}/document`, { params }))["documents"] as Json[];
  }

  getDocument(repository: string, document: string): Promise<Json> {
    return this.#answer("GET", `/repository/${repository}/${document}`);
  }

  deleteDocumentByIds(repository: string, collection: string, documentIds: readonly string[]): Promise<Json> {
    const params = { collectionId: collection };
    return this.#answer("DELETE", `/repository/${repository}/document`, { params, json: { documentIds } });
  }

  deleteDocumentsByName(repository: string, collection: string, documentName: string): Promise<Json> {
    const params = { collectionId: collection, documentName };
    return this.#answer("DELETE", `/repository/${repository}/document`, { params });
  }

  async presignedUrl(key: string): Promise<Link> {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const { response } = (await this.#answer("POST", "/repository/presigned-url", { headers, data: key })) as {
      response: Omit<Link, "key">;
    };
    return { ...response, key: response.fields["key"] as string };
  }

  async ingestDocument(repository: string, model: string, file: string, collection?: string): Promise<readonly Json[]> {
    const json = {
      embeddingModel: { modelName: model },
      keys: [file],
      ...(collection === undefined ? {} : { collectionId: collection }),
    };
    const params = { repositoryType: repository, chunkSize: 512, chunkOverlap: 51 };
    return (await this.#answer("POST", `/repository/${repository}/bulk`, { params, json }))["jobs"] as Json[];
  }

  async similaritySearch(repository: string, query: string, more: Params = {}): Promise<readonly Hit[]> {
    const params = { query, repositoryType: repository, topK: 3, ...more };
    return (await this.#answer("GET", `/repository/${repository}/similaritySearch`, { params }))["docs"] as Hit[];
  }
}

export type Hit = Json & { readonly Document: { readonly page_content: string; readonly metadata: Json } };

export function sdkHeaders(key: string): Readonly<Record<string, string>> {
  return { "Api-Key": key, Authorization: key };
}

/** As the SDK and the user interface send it: every field, then the file; the SDK without any credential. */
export async function uploadDocument(
  { url, fields }: Pick<Link, "url" | "fields">,
  name: string,
  content: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("file", new Blob([content]), name);
  return readReply(await fetch(url, { method: "POST", body: form, headers }));
}
