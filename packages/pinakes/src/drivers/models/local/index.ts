/**
 * The local embedder: all-MiniLM-L6-v2 with 8-bit weights, or a model of the same kind from a folder. No network, ever.
 *
 * @example
 * const embedder = await openLocalEmbedder();
 * const [vector] = await embedder.embed(["How do I renew a certificate?"], { kind: "query" });
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { invalid } from "../../../domain/errors.ts";
import { invariant } from "../../../domain/invariant.ts";
import type { Embedder, EmbeddingModel, EmbedOptions, Tokenizer } from "../../../ports/embedder.ts";
import { modelFolder, readTokenizerFiles, type ModelFolder } from "./model-folder.ts";
import { pooledEmbedder } from "../pooled-embedder.ts";
import { EmbedPool } from "./pool.ts";
import { openLocalTokenizer } from "./tokenizer.ts";

const localModelId = "all-MiniLM-L6-v2";
const localDims = 384;
/** The authors evaluate it with 256. It was trained on 128 and has positions for 512. */
const localTokensMax = 256;

/** Positions of nearly every model of this kind, for folders without this setting. */
const positionsDefault = 512;
/** [CLS] and [SEP]. */
const marksTokens = 2;

export interface LocalEmbedderOptions {
  /** A folder with tokenizer.json, tokenizer_config.json and onnx/model_quantized.onnx or onnx/model.onnx. Vectors are means over tokens. */
  readonly dir?: string | undefined;
  /** Default: one per core. */
  readonly threads?: number | undefined;
  /** The name under which collections refer to the model. */
  readonly id?: string | undefined;
  /** Token limit, for a folder that states too many or none. */
  readonly tokensMax?: number | undefined;
  /** For tests: the script that the threads run. */
  readonly script?: URL | undefined;
}

/** A custom model is loaded and tried at once, to learn its dimension; the default is loaded at its first use. */
export async function openLocalEmbedder(options: LocalEmbedderOptions = {}): Promise<Embedder> {
  const folder = modelFolder(options.dir);
  const tokensMax = options.tokensMax ?? (folder.pinned ? localTokensMax : await tokensMaxOf(folder));
  if (!Number.isSafeInteger(tokensMax) || tokensMax < 1)
    throw invalid(`tokensMax: must be a whole number of at least 1, got ${tokensMax}.`);
  const pool = new EmbedPool({ folder, tokensMax, threads: options.threads, script: options.script });
  try {
    const dims = folder.pinned ? localDims : ((await pool.embed(["dimension"]))[0] as Float32Array).length;
    return pooledEmbedder(
      new LocalEmbedder(
        { id: options.id ?? localModelId, provider: "local", dims, metric: "cosine", tokensMax },
        pool,
        options.dir,
      ),
    );
  } catch (error) {
    await pool.close();
    throw error;
  }
}

class LocalEmbedder implements Embedder {
  readonly model: EmbeddingModel;
  readonly #pool: EmbedPool;
  readonly #dir: string | undefined;
  #tokenizer: Promise<Tokenizer> | undefined;

  constructor(model: EmbeddingModel, pool: EmbedPool, dir: string | undefined) {
    this.model = model;
    this.#pool = pool;
    this.#dir = dir;
  }

  tokenizer(): Promise<Tokenizer> {
    this.#tokenizer ??= openLocalTokenizer(this.#dir);
    return this.#tokenizer;
  }

  async embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]> {
    const vectors = await this.#pool.embed(texts, options);
    for (const { length } of vectors)
      invariant(
        length === this.model.dims,
        "CORRUPT",
        `The local model returned ${length} numbers instead of ${this.model.dims}.`,
      );
    return vectors;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/**
 * sentence-transformers has the limit in a file of its own; the tokenizer's setting is often "no limit", which is more than the model
 * supports.
 */
async function tokensMaxOf(folder: ModelFolder): Promise<number> {
  const { config } = await readTokenizerFiles(folder);
  const said = (await sentenceTokens(folder)) ?? config["model_max_length"];
  return (
    Math.min(typeof said === "number" && said > marksTokens ? said : positionsDefault, positionsDefault) - marksTokens
  );
}

async function sentenceTokens(folder: ModelFolder): Promise<unknown> {
  const path = join(folder.dir, "sentence_bert_config.json");
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return (JSON.parse(text) as { readonly max_seq_length?: unknown }).max_seq_length;
  } catch (cause) {
    throw invalid(`${path} is not JSON; copy the model's folder again.`, { cause });
  }
}
