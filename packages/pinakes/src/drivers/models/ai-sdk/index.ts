/** Embedders of providers, through the AI SDK: any server with OpenAI's protocol, Ollama, Amazon Bedrock. */
import { embedMany } from "ai";
import { PinakesError } from "../../../domain/errors.ts";
import type { Embedder, EmbeddingModel, EmbedOptions, Tokenizer } from "../../../ports/embedder.ts";
import { estimatingTokenizer } from "../estimating-tokenizer.ts";
import { knownTokensMax } from "../known-limits.ts";
import { openLocalTokenizer } from "../local/tokenizer.ts";
import { normalize } from "../normalize.ts";
import { pooledEmbedder } from "../pooled-embedder.ts";
import type { RemoteModelSettings } from "../settings.ts";
import { retriesDefault, type RemoteOptions } from "./connect.ts";
import { mapError } from "./errors.ts";
import { fetchWithin } from "./fetch-within.ts";
import { openProvider, type ProviderModel } from "./provider.ts";

const answerMsDefault = 60_000;

const words = { doing: "Embedding with", what: "the input", quotes: true };

export async function openAiSdkEmbedder(settings: RemoteModelSettings, options: RemoteOptions = {}): Promise<Embedder> {
  const answerMsMax = options.answerMsMax ?? answerMsDefault;
  const provider = await openProvider(settings, fetchWithin(answerMsMax), options.env ?? process.env);
  return pooledEmbedder(new AiSdkEmbedder(settings, provider, answerMsMax, options.retriesMax ?? retriesDefault));
}

class AiSdkEmbedder implements Embedder {
  readonly model: EmbeddingModel;
  readonly #provider: ProviderModel;
  readonly #answerMsMax: number;
  readonly #retriesMax: number;
  readonly #closing = new AbortController();
  #tokenizer: Promise<Tokenizer> | undefined;

  constructor(settings: RemoteModelSettings, provider: ProviderModel, answerMsMax: number, retriesMax: number) {
    const { id, dims, metric = "cosine", tokensMax = knownTokensMax(settings.model) } = settings;
    this.model = { id, provider: settings.provider, dims, metric, tokensMax };
    this.#provider = provider;
    this.#answerMsMax = answerMsMax;
    this.#retriesMax = retriesMax;
  }

  async embed(
    texts: readonly string[],
    { kind = "document", signal }: EmbedOptions = {},
  ): Promise<readonly Float32Array[]> {
    this.#closing.signal.throwIfAborted();
    signal?.throwIfAborted();
    if (texts.length === 0) return [];
    const failed = new AbortController();
    const any = AbortSignal.any([this.#closing.signal, failed.signal, ...(signal === undefined ? [] : [signal])]);
    const vectors: Float32Array[] = Array.from({ length: texts.length });
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < texts.length) {
        const start = next;
        next += this.#provider.batchTextsMax;
        const batch = texts.slice(start, start + this.#provider.batchTextsMax);
        for (const [i, vector] of (await this.#embedBatch(batch, kind, any)).entries()) vectors[start + i] = vector;
      }
    };
    try {
      await Promise.all(Array.from({ length: this.#provider.batchesMax }, work));
      return vectors;
    } catch (error) {
      // The first failure decides; the results of other batches would be thrown away.
      failed.abort(error);
      this.#closing.signal.throwIfAborted();
      signal?.throwIfAborted();
      const { name, secrets } = this.#provider;
      throw mapError(error, { id: this.model.id, name, secrets, answerMsMax: this.#answerMsMax }, words);
    }
  }

  /** No provider exposes its tokenizer. */
  tokenizer(): Promise<Tokenizer> {
    this.#tokenizer ??= openLocalTokenizer().then(estimatingTokenizer);
    return this.#tokenizer;
  }

  async close(): Promise<void> {
    this.#closing.abort(new PinakesError("UNAVAILABLE", "The embedder is closed.", { retryable: false }));
  }

  async #embedBatch(
    texts: readonly string[],
    kind: "document" | "query",
    abortSignal: AbortSignal,
  ): Promise<Float32Array[]> {
    const { dimensions, providerOptions } = this.#provider.options(kind);
    const { embeddings } = await embedMany({
      model: this.#provider.model,
      values: texts.map(acceptable),
      maxRetries: this.#retriesMax,
      maxParallelCalls: this.#provider.callsMax,
      abortSignal,
      ...(dimensions === undefined ? {} : { dimensions }),
      ...(providerOptions === undefined ? {} : { providerOptions }),
    });
    return embeddings.map((embedding) => this.#checked(embedding));
  }

  #checked(embedding: readonly number[]): Float32Array {
    const { id, dims, metric } = this.model;
    if (embedding.length !== dims) {
      throw new PinakesError(
        "CORRUPT",
        `Embedding with ${id} (${this.#provider.name}): expected vectors of ${dims} numbers, got ${embedding.length}. Nothing was stored; set dims to ${embedding.length} under a new id, or name the right model.`,
      );
    }
    const vector = Float32Array.from(embedding);
    if (metric === "cosine") return normalize(vector);
    if (!vector.every(Number.isFinite))
      throw new PinakesError("CORRUPT", `Embedding with ${id} (${this.#provider.name}): the vector is not finite.`);
    return vector;
  }
}

/** Providers reject an empty text and half of a surrogate pair. */
function acceptable(text: string): string {
  return text === "" ? " " : text.toWellFormed();
}
