/** Vectors of stored values, as text inside their items, and their similarity to a query. */
import type { IndexConfig } from "@langchain/langgraph-checkpoint";

export interface EmbedOptions {
  /** Computes a vector for each text. */
  readonly embed: (texts: string[]) => Promise<number[][]>;
  /** Which parts of a value are embedded; default: all of it (`$`). */
  readonly fields?: readonly string[] | undefined;
}

export class Embedding {
  readonly #embed: (texts: string[]) => Promise<number[][]>;
  readonly #embedQuery: (text: string) => Promise<number[]>;
  readonly #fields: readonly string[];

  /** A function, or an embeddings object as LangGraph's own store accepts. */
  constructor(options: EmbedOptions | IndexConfig) {
    this.#fields = options.fields ?? ["$"];
    if ("embed" in options) {
      this.#embed = options.embed;
      this.#embedQuery = async (text) => (await options.embed([text]))[0] as number[];
    } else {
      this.#embed = (texts) => options.embeddings.embedDocuments(texts);
      this.#embedQuery = (text) => options.embeddings.embedQuery(text);
    }
  }

  /** One vector per text of a value; none if `index` is false. */
  async vectors(
    values: readonly { readonly value: unknown; readonly index: false | readonly string[] | undefined }[],
  ): Promise<string[][]> {
    const texts = values.map(({ value, index }) =>
      index === false ? [] : (index ?? this.#fields).flatMap((path) => textsAt(value, path)),
    );
    const distinct = [...new Set(texts.flat())];
    const made = distinct.length === 0 ? [] : await this.#embed(distinct);
    if (made.length !== distinct.length)
      throw new Error(`embed: ${distinct.length} texts were passed and ${made.length} vectors were returned.`);
    const byText = new Map(distinct.map((text, i) => [text, toText(made[i] as number[])]));
    return texts.map((list) => list.map((text) => byText.get(text) as string));
  }

  /** The similarity of a value: the cosine of its nearest text; undefined if it has none. */
  async scorer(query: string): Promise<(vectors: readonly string[]) => number | undefined> {
    const wanted = Float32Array.from(await this.#embedQuery(query));
    return (vectors) =>
      vectors.length === 0 ? undefined : Math.max(...vectors.map((vector) => cosine(wanted, fromText(vector))));
  }
}

function toText(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString("base64");
}

function fromText(text: string): Float32Array {
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  return new Float32Array(bytes.buffer);
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i] as number, b[i] ?? 0];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

/** The texts of a value that are embedded: `$` (all of it), `title`, `author.name`, `chapters[*].content`, `tags[0]`, `tags[-1]`. */

function textsAt(value: unknown, path: string): string[] {
  if (path === "$") return [JSON.stringify(value)];
  const steps = [...path.matchAll(/[^.[\]]+|\[[^\]]*\]/g)].map(([step]) => step);
  return steps
    .reduce<unknown[]>((found, step) => found.flatMap((one) => next(one, step)), [value])
    .flatMap((found) =>
      found === undefined || found === null
        ? []
        : [typeof found === "object" ? JSON.stringify(found) : String(found as number)],
    );
}

function next(value: unknown, step: string): unknown[] {
  if (step.startsWith("[")) {
    if (!Array.isArray(value)) return [];
    const index = step.slice(1, -1);
    return index === "*" ? value : [value.at(Number(index))];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.hasOwn(value, step) ? [(value as Readonly<Record<string, unknown>>)[step]] : [];
}
