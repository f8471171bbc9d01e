/** Embeds the query with each model of the collections. A failing model excludes only its own collections. */
import { PinakesError } from "../../domain/errors.ts";
import type { EmbeddingModel } from "../../ports/embedder.ts";
import type { Embedders } from "../dependencies.ts";
import type { CheckedSearch } from "./search-input.ts";
import type { Target } from "./search-scope.ts";

export interface Embedded {
  /** By model id, like all below. */
  readonly vectors: ReadonlyMap<string, Float32Array>;
  readonly models: ReadonlyMap<string, EmbeddingModel>;
  readonly failures: ReadonlyMap<string, PinakesError>;
  readonly ms: number;
}

export async function embedQuestion(
  embedders: Embedders,
  query: CheckedSearch,
  targets: readonly Target[],
): Promise<Embedded> {
  const began = performance.now();
  const vectors = new Map<string, Float32Array>();
  const models = new Map<string, EmbeddingModel>();
  const failures = new Map<string, PinakesError>();
  const needed =
    query.mode === "keyword" || query.mode === "graph" ? [] : [...new Set(targets.map(({ model }) => model))];
  await Promise.all(
    needed.map(async (id) => {
      try {
        const embedder = await embedders.get(id);
        const [vector] = await embedder.embed([query.query], { kind: "query" });
        vectors.set(id, vector as Float32Array);
        models.set(id, embedder.model);
      } catch (error) {
        // An invalid query is invalid for every model.
        if (!PinakesError.isInstance(error) || error.code === "INVALID") throw error;
        failures.set(id, error);
      }
    }),
  );
  return { vectors, models, failures, ms: performance.now() - began };
}
