/**
 * A caching embedder. The same text is computed once: later calls find its vector, and concurrent calls share the work. Queries and
 * documents have separate caches, so that an ingestion does not evict frequent queries.
 *
 * Invariant: a caller that aborts does not take the vector from others that wait for it; the work ends early only when all have aborted.
 */
import { ByteCache } from "../../runtime/byte-cache.ts";
import { createHash } from "node:crypto";
import type { Embedder, EmbedOptions, Tokenizer } from "../../ports/embedder.ts";

const queryBytesDefault = 8 * 1024 ** 2;
const documentBytesDefault = 8 * 1024 ** 2;
/** The memory of a vector besides its numbers: its key, its map entry, its objects. Measured, roughly. */
const entryBytes = 300;

export interface CachedEmbedderOptions {
  readonly queries?: EmbeddingCache | undefined;
  readonly documents?: EmbeddingCache | undefined;
}

/** LRU cache of vectors by the hash of their text. */
export class EmbeddingCache {
  readonly bytesMax: number;
  hits = 0;
  misses = 0;
  readonly #vectors: ByteCache<{ readonly vector: Float32Array; readonly bytes: number }>;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#vectors = new ByteCache(bytesMax);
  }

  get bytes(): number {
    return this.#vectors.bytes;
  }

  get size(): number {
    return this.#vectors.size;
  }

  /** A copy, so that changes by a caller stay with the caller. */
  get(key: string): Float32Array | undefined {
    const found = this.#vectors.get(key);
    if (found === undefined) {
      this.misses += 1;
      return undefined;
    }
    this.hits += 1;
    return found.vector.slice();
  }

  put(key: string, vector: Float32Array): void {
    this.#vectors.put(key, { vector: vector.slice(), bytes: vector.byteLength + entryBytes });
  }
}

/** One call of the embedder, and how many calls wait for a part of it. */
interface Work {
  readonly controller: AbortController;
  callers: number;
}

interface Pending {
  readonly work: Work;
  readonly vector: Promise<Float32Array>;
}

export function cachedEmbedder(embedder: Embedder, options: CachedEmbedderOptions = {}): Embedder {
  return new CachedEmbedder(embedder, options);
}

class CachedEmbedder implements Embedder {
  readonly #embedder: Embedder;
  readonly #caches: { readonly query: EmbeddingCache; readonly document: EmbeddingCache };
  readonly #pending = new Map<string, Pending>();

  constructor(embedder: Embedder, { queries, documents }: CachedEmbedderOptions) {
    this.#embedder = embedder;
    this.#caches = {
      query: queries ?? new EmbeddingCache(queryBytesDefault),
      document: documents ?? new EmbeddingCache(documentBytesDefault),
    };
  }

  get model(): Embedder["model"] {
    return this.#embedder.model;
  }

  async embed(
    texts: readonly string[],
    { kind = "document", signal }: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    signal?.throwIfAborted();
    const keys = texts.map((text) => keyOf(this.model.id, kind, text));
    const found = keys.map((key) => this.#caches[kind].get(key));
    const missing = new Map<string, string>();
    for (const [i, key] of keys.entries()) if (found[i] === undefined) missing.set(key, texts[i] as string);
    if (missing.size === 0) return found as Float32Array[];
    const pending = this.#join(missing, kind);
    const vectors = await waitFor(pending, signal);
    return keys.map((key, i) => found[i] ?? (vectors.get(key) as Float32Array).slice());
  }

  tokenizer(): Promise<Tokenizer> {
    return this.#embedder.tokenizer();
  }

  close(): Promise<void> {
    return this.#embedder.close();
  }

  /** Texts that another call is computing are awaited; the rest is computed together. */
  #join(missing: ReadonlyMap<string, string>, kind: "document" | "query"): Map<string, Pending> {
    const fresh = [...missing].filter(([key]) => !this.#usable(key));
    if (fresh.length > 0) this.#start(fresh, kind);
    return new Map([...missing.keys()].map((key) => [key, this.#pending.get(key) as Pending]));
  }

  #usable(key: string): boolean {
    const pending = this.#pending.get(key);
    return pending !== undefined && !pending.work.controller.signal.aborted;
  }

  #start(fresh: readonly (readonly [key: string, text: string])[], kind: "document" | "query"): void {
    const work: Work = { controller: new AbortController(), callers: 0 };
    const texts = fresh.map(([, text]) => text);
    const all = this.#embedder.embed(texts, { kind, signal: work.controller.signal });
    for (const [i, [key]] of fresh.entries()) {
      const vector = all.then((vectors) => vectors[i] as Float32Array);
      const pending: Pending = { work, vector };
      this.#pending.set(key, pending);
      const forget = (): void => {
        if (this.#pending.get(key) === pending) this.#pending.delete(key);
      };
      vector.then((value) => {
        this.#caches[kind].put(key, value);
        forget();
      }, forget);
    }
  }
}

async function waitFor(
  pending: ReadonlyMap<string, Pending>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Float32Array>> {
  const works = new Set([...pending.values()].map(({ work }) => work));
  for (const work of works) work.callers += 1;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const all = Promise.all([...pending].map(async ([key, { vector }]) => [key, await vector] as const));
    return new Map(await Promise.race([all, aborted.promise]));
  } finally {
    signal?.removeEventListener("abort", onAbort);
    for (const work of works) {
      work.callers -= 1;
      if (work.callers === 0) work.controller.abort();
    }
  }
}

function keyOf(model: string, kind: string, text: string): string {
  return createHash("sha256")
    .update(JSON.stringify([model, kind, text]))
    .digest("base64");
}
