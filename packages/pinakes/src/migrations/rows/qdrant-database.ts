/** Qdrant, over its HTTP API. */
import { PinakesError } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { fetchFrom } from "../../outgoing/fetch-from.ts";
import type { FoundVectors, StoredPoint, VectorDatabase } from "./vector-store-reader.ts";

const pagePoints = 500;
const answerMsMax = 60_000;
const answerBytesMax = 256 * 1024 ** 2;

export class QdrantDatabase implements VectorDatabase {
  readonly #server: string;

  constructor(server: string) {
    this.#server = server;
  }

  async list(signal: AbortSignal): Promise<readonly FoundVectors[]> {
    const { collections } = await this.#ask("/collections", signal);
    if (!Array.isArray(collections)) throw this.#odd("the list of collections is not a list");
    const found: FoundVectors[] = [];
    for (const { name } of collections as readonly { readonly name: string }[]) {
      const { config } = await this.#ask(`/collections/${encodeURIComponent(name)}`, signal);
      found.push({ name, size: sizeOf(config) });
    }
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** In the order of their ids. */
  async *points(name: string, signal: AbortSignal): AsyncGenerator<StoredPoint> {
    const path = `/collections/${encodeURIComponent(name)}/points/scroll`;
    for (let offset: JsonValue | undefined; ;) {
      const body = {
        limit: pagePoints,
        with_payload: true,
        with_vector: true,
        ...(offset === undefined ? {} : { offset }),
      };
      const { points, next_page_offset } = await this.#ask(path, signal, body);
      if (!Array.isArray(points)) throw this.#odd("a page of points is not a list");
      for (const point of points as readonly { id: number | string; vector: unknown; payload?: JsonObject | null }[])
        yield { id: String(point.id), payload: point.payload ?? {}, ...oneVector(point.vector) };
      if (next_page_offset === null || next_page_offset === undefined) return;
      offset = next_page_offset;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #ask(path: string, signal: AbortSignal, body?: object): Promise<JsonObject> {
    const url = `${this.#server}${path}`;
    const sent =
      body === undefined
        ? {}
        : { method: "POST" as const, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const limits = { signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]), answerBytesMax };
    const { status, text } = await fetchFrom(url, { ...sent, ...limits }).catch((error: unknown) => {
      if (PinakesError.isInstance(error)) throw error;
      throw new PinakesError("UNAVAILABLE", `${this.#server}: unreachable: ${(error as Error).message}.`, {
        cause: error,
      });
    });
    if (status !== 200)
      throw new PinakesError(
        status >= 500 ? "UNAVAILABLE" : "INVALID",
        `${url}: responded with ${status} ${text.slice(0, 200)}`,
      );
    const { result } = this.#parsed(text);
    if (!isJsonObject(result)) throw this.#odd("an answer has no result");
    return result;
  }

  #parsed(text: string): JsonObject {
    try {
      const answer = JSON.parse(text) as unknown;
      if (isJsonObject(answer)) return answer;
    } catch {
      // Told below.
    }
    throw this.#odd("an answer is not a JSON object");
  }

  #odd(what: string): PinakesError {
    return new PinakesError("INVALID", `${this.#server}: does not answer like Qdrant: ${what}.`);
  }
}

function sizeOf(config: JsonValue | undefined): number | undefined {
  const params = isJsonObject(config) ? config["params"] : undefined;
  const vectors = isJsonObject(params) ? params["vectors"] : undefined;
  if (!isJsonObject(vectors)) return undefined;
  const single = Object.keys(vectors).length === 1 ? Object.values(vectors)[0] : undefined;
  const size = vectors["size"] ?? (isJsonObject(single) ? single["size"] : undefined);
  return typeof size === "number" ? size : undefined;
}

/** A point may have several vectors by name, sparse ones among them: the only dense one is taken. */
function oneVector(vector: unknown): Pick<StoredPoint, "vector" | "lost"> {
  if (!isJsonObject(vector)) return { vector };
  const dense = Object.values(vector).filter(Array.isArray);
  const others = Object.keys(vector).length - 1;
  return { vector: dense[0], ...(others > 0 ? { lost: `${others} of its vectors` } : {}) };
}
