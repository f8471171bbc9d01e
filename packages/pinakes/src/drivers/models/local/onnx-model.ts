/** The model itself: tokens, one run of the network, the mean over its tokens, length 1. Loaded inside a thread of the pool. */
import type { Tokenizer as RealTokenizer } from "@huggingface/tokenizers";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { PinakesError } from "../../../domain/errors.ts";
import { invariant } from "../../../domain/invariant.ts";
import { normalize } from "../normalize.ts";
import { readTokenizerFiles, readWeights, type ModelFolder } from "./model-folder.ts";
import { realTokenizer } from "./tokenizer.ts";

/** Only errors: the rest goes to standard error, past every logger. */
const logSeverityErrors = 3;

export class OnnxModel {
  readonly #session: InferenceSession;
  readonly #real: RealTokenizer;
  readonly #marks: number;
  readonly #tokensMax: number;

  private constructor(session: InferenceSession, real: RealTokenizer, tokensMax: number) {
    this.#session = session;
    this.#real = real;
    this.#marks = real.encode("").ids.length;
    this.#tokensMax = tokensMax;
  }

  static async load(folder: ModelFolder, tokensMax: number): Promise<OnnxModel> {
    const [files, weights] = await Promise.all([readTokenizerFiles(folder), readWeights(folder)]);
    const session = await InferenceSession.create(weights, {
      // One thread a session and one session a core: faster than one session over all cores as soon as anything else runs.
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: "sequential",
      logSeverityLevel: logSeverityErrors,
    });
    return new OnnxModel(session, realTokenizer(files), tokensMax);
  }

  async embed(text: string): Promise<Float32Array> {
    const ids = this.#tokenIds(text);
    const count = ids.length;
    const shape = [1, count];
    const inputs: Record<string, Tensor> = {};
    for (const name of this.#session.inputNames) {
      if (name === "input_ids") inputs[name] = new Tensor("int64", BigInt64Array.from(ids, BigInt), shape);
      else if (name === "attention_mask") inputs[name] = new Tensor("int64", new BigInt64Array(count).fill(1n), shape);
      else if (name === "token_type_ids") inputs[name] = new Tensor("int64", new BigInt64Array(count), shape);
      else
        throw new PinakesError(
          "NOT_SUPPORTED",
          `The model requires an input "${name}", which text models do not have. Choose another folder.`,
        );
    }
    const outputs = await this.#session.run(inputs);
    const hidden = outputs["last_hidden_state"] ?? outputs["token_embeddings"];
    if (hidden === undefined || hidden.dims.length !== 3 || hidden.type !== "float32") {
      throw new PinakesError(
        "NOT_SUPPORTED",
        `The model has the outputs ${this.#session.outputNames.join(", ")}, not last_hidden_state. Choose another folder.`,
      );
    }
    invariant(hidden.dims[1] === count, "CORRUPT", "The model returned another number of tokens than it got.");
    return normalize(meanOfRows(hidden.data as Float32Array, count, hidden.dims[2] as number));
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  /** With the model's special tokens around the text ([CLS] … [SEP]). Longer texts were split into windows before. */
  #tokenIds(text: string): readonly number[] {
    const { ids } = this.#real.encode(text);
    const tokens = ids.length - this.#marks;
    invariant(
      tokens <= this.#tokensMax,
      "INTERNAL",
      `A text of ${tokens} tokens exceeds the model's limit of ${this.#tokensMax}.`,
    );
    return ids;
  }
}

/** One text has no padding, so every token counts the same: the mean under the attention mask is the mean of all. */
function meanOfRows(data: Float32Array, rows: number, dims: number): Float32Array {
  const mean = new Float32Array(dims);
  for (let row = 0; row < rows; row += 1) {
    for (let i = 0; i < dims; i += 1) mean[i] = (mean[i] as number) + (data[row * dims + i] as number);
  }
  for (let i = 0; i < dims; i += 1) mean[i] = (mean[i] as number) / rows;
  return mean;
}
