/** Common parts of the settings of all kinds of models: fields, and how a list of them is read. */
import { z } from "zod";
import { invalid, show } from "../../domain/errors.ts";
import { isEndpoint } from "../../outgoing/http-address.ts";

export const modelsMax = 100;
export const modelIdCharsMax = 128;
const textCharsMax = 1_000;

export const id = z
  .string()
  .min(1)
  .max(modelIdCharsMax)
  .regex(/^[\w.:/@-]+$/, "may have letters, digits and _ . : / @ - only");
export const text = z.string().min(1).max(textCharsMax);
export const baseUrl = z
  .url({ protocol: /^https?$/ })
  .refine(isEndpoint, 'must be an address without user and password, "?" and "#"; the key comes from apiKeyEnv')
  .optional();
/** The name of the variable, never the key itself: settings are shown and stored. */
export const apiKeyEnv = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]*$/i, "must be the name of an environment variable, not the key itself")
  .optional();

export interface ModelList<Settings> {
  /** The setting, for messages. */
  readonly name: string;
  readonly schema: z.ZodType<Settings>;
  readonly providers: readonly string[];
  /** An example of such a list. */
  readonly example: string;
}

export function readModels<Settings extends { readonly id: string }>(
  json: unknown,
  list: ModelList<Settings>,
): readonly Settings[] {
  const { name } = list;
  if (!Array.isArray(json)) throw invalid(`${name}: must be a list such as ${list.example}, got ${show(json)}.`);
  if (json.length > modelsMax) throw invalid(`${name}: at most ${modelsMax}, got ${json.length}.`);
  const models = json.map((entry: unknown, i) => readModel(entry, `${name}[${i}]`, list));
  const ids = new Set<string>();
  for (const [i, model] of models.entries()) {
    if (ids.has(model.id))
      throw invalid(`${name}[${i}].id: "${model.id}" appears twice; collections name a model by its id.`);
    ids.add(model.id);
  }
  return models;
}

function readModel<Settings>(entry: unknown, where: string, { schema, providers }: ModelList<Settings>): Settings {
  const result = schema.safeParse(entry);
  if (result.success) return Object.freeze(result.data);
  const [issue] = result.error.issues;
  const path = (issue?.path ?? []).map((key) => `.${String(key)}`).join("");
  const quoted = providers.map((provider) => `"${provider}"`);
  if (path === ".provider")
    throw invalid(`${where}.provider: must be ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}.`);
  throw invalid(`${where}${path}: ${issue?.message ?? "is not a model"}.`);
}
