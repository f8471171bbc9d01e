/** Search settings of an evaluation: for `--a` and `--b`, and for runs of stored evaluations. */
import { invalid, show } from "../domain/errors.ts";
import { isJsonObject } from "../domain/json.ts";
import type { SearchInput } from "../knowledge/search/search-input.ts";

export type Configuration = Pick<SearchInput, "mode" | "fusion" | "vector_weight" | "diversity">;

const fields: readonly string[] = [
  "mode",
  "fusion",
  "vector_weight",
  "diversity",
] satisfies readonly (keyof Configuration)[];

export function readConfiguration(input: unknown, where: string): Configuration {
  if (!isJsonObject(input))
    throw invalid(`${where}: must be an object such as {"mode":"hybrid","fusion":"convex","vector_weight":0.4}.`);
  for (const name of Object.keys(input))
    if (!fields.includes(name))
      throw invalid(`${where}.${name}: unknown field; known fields are ${fields.join(", ")}.`);
  const { mode, fusion, vector_weight, diversity } = input;
  if (mode !== undefined && mode !== "hybrid" && mode !== "vector" && mode !== "keyword" && mode !== "graph")
    throw invalid(`${where}.mode: must be hybrid, vector, keyword or graph, got ${show(mode)}.`);
  if (fusion !== undefined && fusion !== "convex" && fusion !== "rrf")
    throw invalid(`${where}.fusion: must be convex or rrf, got ${show(fusion)}.`);
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(fusion === undefined ? {} : { fusion }),
    ...(vector_weight === undefined ? {} : { vector_weight: share(vector_weight, `${where}.vector_weight`) }),
    ...(diversity === undefined ? {} : { diversity: share(diversity, `${where}.diversity`) }),
  };
}

/** A readable name. */
export function nameOf({ mode = "hybrid", fusion, vector_weight, diversity }: Configuration): string {
  return [
    mode,
    ...(fusion === undefined ? [] : [fusion]),
    ...(vector_weight === undefined ? [] : [`vectors ${vector_weight}`]),
    ...(diversity === undefined ? [] : [`diversity ${diversity}`]),
  ].join(", ");
}

function share(value: unknown, where: string): number {
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  throw invalid(`${where}: must be a number from 0 to 1, got ${show(value)}.`);
}
