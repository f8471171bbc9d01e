/** Milvus, through its own client, which is installed beside this server by whoever needs it: `npm install @zilliz/milvus2-sdk-node`. */
import type { MilvusClient } from "@zilliz/milvus2-sdk-node";
import { PinakesError } from "../../domain/errors.ts";
import { resolveGuarded } from "../../outgoing/guarded-lookup.ts";
import type { FoundVectors, StoredPoint, VectorDatabase } from "./vector-store-reader.ts";

const pagePoints = 500;
const callMsMax = 60_000;
const portDefault = 19_530;

interface Field {
  readonly name: string;
  readonly data_type: string;
  readonly is_primary_key: boolean;
  readonly type_params: readonly { readonly key: string; readonly value: string | number }[];
}

export class MilvusDatabase implements VectorDatabase {
  readonly #address: string;
  #client: Promise<MilvusClient> | undefined;

  constructor(address: string) {
    this.#address = address;
  }

  async list(signal: AbortSignal): Promise<readonly FoundVectors[]> {
    const { data } = await this.#done((client) => client.showCollections());
    const found: FoundVectors[] = [];
    for (const { name } of data) {
      signal.throwIfAborted();
      const { vectors } = await this.#fields(name);
      const size = vectors[0]?.type_params.find(({ key }) => key === "dim")?.value;
      found.push({ name, size: vectors.length === 1 && size !== undefined ? Number(size) : undefined });
    }
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** In the order of their primary keys. */
  async *points(name: string, signal: AbortSignal): AsyncGenerator<StoredPoint> {
    const { key, vectors } = await this.#fields(name);
    const lost = vectors.length === 1 ? undefined : `${vectors.length - 1} of its vectors`;
    const vectorName = vectors[0]?.name ?? "vector";
    await this.#done((client) => client.loadCollectionSync({ collection_name: name, timeout: callMsMax }));
    // The client's iterator: a plain query with a limit is not in the order of the keys.
    const request = { collection_name: name, batchSize: pagePoints, expr: "", output_fields: ["*"] };
    const pages = await this.#done((client) => client.queryIterator(request));
    for await (const page of pages as AsyncIterable<readonly Readonly<Record<string, unknown>>[]>) {
      signal.throwIfAborted();
      for (const row of page) {
        const { [vectorName]: vector, [key.name]: id, $meta: _, ...payload } = row;
        yield {
          id: typeof id === "string" ? id : JSON.stringify(id),
          vector: Array.from(vector as ArrayLike<number>),
          payload,
          lost,
        };
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#client?.catch(() => undefined))?.closeConnection();
  }

  async #fields(name: string): Promise<{ readonly key: Field; readonly vectors: readonly Field[] }> {
    const { schema } = await this.#done((client) => client.describeCollection({ collection_name: name }));
    const fields = schema.fields as unknown as readonly Field[];
    const key = fields.find(({ is_primary_key }) => is_primary_key);
    if (key === undefined) throw new PinakesError("INVALID", `${this.#address}: ${name} has no primary key.`);
    return { key, vectors: fields.filter(({ data_type }) => data_type.includes("Vector")) };
  }

  async #done<Answer extends object>(call: (client: MilvusClient) => Promise<Answer>): Promise<Answer> {
    try {
      this.#client ??= this.#connect();
      const answer = await call(await this.#client);
      const status = (answer as { readonly status?: { readonly error_code?: string; readonly reason?: string } })
        .status;
      const code = status?.error_code ?? (answer as { readonly error_code?: string }).error_code ?? "Success";
      if (code === "Success") return answer;
      throw new Error(`${code} ${status?.reason ?? (answer as { readonly reason?: string }).reason ?? ""}`);
    } catch (error) {
      if (PinakesError.isInstance(error)) throw error;
      throw new PinakesError("UNAVAILABLE", `${this.#address}: cannot be read: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  async #connect(): Promise<MilvusClient> {
    const { MilvusClient } = await import("@zilliz/milvus2-sdk-node").catch((error: unknown) => {
      throw new PinakesError(
        "NOT_SUPPORTED",
        "Milvus is read with its own client, which is not installed: npm install @zilliz/milvus2-sdk-node.",
        { cause: error },
      );
    });
    const { hostname, port, protocol } = new URL(this.#address);
    if (protocol !== "http:")
      throw new PinakesError("NOT_SUPPORTED", `${this.#address}: Milvus is read over http:// only.`);
    const host = await resolveGuarded(hostname.replace(/^\[(.+)\]$/, "$1"));
    const address = `${host.includes(":") ? `[${host}]` : host}:${port === "" ? portDefault : port}`;
    const client = new MilvusClient({ address, timeout: callMsMax, maxRetries: 1, logLevel: "error" });
    await client.connectPromise;
    return client;
  }
}
