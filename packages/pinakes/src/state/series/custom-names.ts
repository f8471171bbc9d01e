/**
 * Types and dimensions of metrics that a workspace makes up itself, beside the fixed ones: `custom.<name>` as a type, and texts in
 * `dimensions` that are asked for as `dimensions.<name>`. Their number is bounded, since each name costs a column in every sealed hour
 * that has it. A property of `dimensions` that has another form (another kind of value, another kind of name) is no dimension; it is
 * kept like any property that is not known.
 */
import { fixedMetricTypes, type MetricType } from "@pinakes/client";
import { z } from "zod";
import { show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";

export const fixedDimensions = ["session_id", "workflow_id", "environment", "model", "tool_name"] as const;

export const customLimits = Object.freeze({
  nameCharactersMax: 63,
  /** Names in use in a workspace. */
  typesMax: 200,
  dimensionsMax: 100,
  rowDimensionsMax: 16,
  valueCharactersMax: 256,
  /** Names that a block has columns for: those that most of its rows have. The others are read from the rows. */
  blockDimensionsMax: 64,
  /** Different values of one custom dimension in the answer of an aggregate. */
  answerValuesMax: 10_000,
  /** In `group_by`, and in `filter`. */
  queryDimensionsMax: 16,
});

const name = `[a-z][a-z0-9_]{0,${customLimits.nameCharactersMax - 1}}`;
const nameForm = new RegExp(`^${name}$`);
const typeForm = new RegExp(`^(?:${fixedMetricTypes.join("|")}|custom\\.${name})$`);
/** Of a custom dimension as queries write it. */
export const dimensionPattern = `dimensions\\.${name}`;
const dimensionForm = new RegExp(`^${dimensionPattern}$`);
const customPrefix = "custom.";
const dimensionPrefix = "dimensions.";
const nameWords = `a name is a lower-case letter, then up to ${customLimits.nameCharactersMax - 1} of a-z, 0-9 and _`;

export type CustomType = `custom.${string}`;
export type CustomDimension = `dimensions.${string}`;

const wantedType = ({ input }: { readonly input?: unknown }): string =>
  `must be one of ${fixedMetricTypes.map(show).join(", ")}, or custom.<name> (${nameWords}), got ${show(input)}`;

export const metricTypeSchema = z
  .string({ error: wantedType })
  .regex(typeForm, { error: wantedType }) as unknown as z.ZodType<MetricType, MetricType>;

export function isCustomType(type: unknown): type is CustomType {
  return typeof type === "string" && type.startsWith(customPrefix) && nameForm.test(type.slice(customPrefix.length));
}

export function isCustomDimension(group: string): group is CustomDimension {
  return group.startsWith(dimensionPrefix);
}

/** Of a name in a query that is none of the fixed ones: what is wrong with it; undefined where nothing is. */
export function dimensionTrouble(group: string, fixed: readonly string[]): string | undefined {
  if (!dimensionForm.test(group))
    return `must be one of ${fixed.map(show).join(", ")}, or dimensions.<name> (${nameWords}), got ${show(group)}`;
  const plain = group.slice(dimensionPrefix.length);
  return isFixed(plain) ? `${plain} is a fixed dimension; write ${plain}` : undefined;
}

/** The custom dimensions of a row, by the name that queries use. */
export function* customDimensionsOf({ dimensions }: JsonObject): Generator<readonly [CustomDimension, string]> {
  if (!isJsonObject(dimensions)) return;
  for (const key in dimensions) {
    const value = dimensions[key];
    if (typeof value === "string" && !isFixed(key) && nameForm.test(key)) yield [`${dimensionPrefix}${key}`, value];
  }
}

/** For the schema of `dimensions`. */
export function checkDimensions(dimensions: object, context: z.RefinementCtx): void {
  const own = [...customDimensionsOf({ dimensions } as JsonObject)];
  const { rowDimensionsMax, valueCharactersMax } = customLimits;
  if (own.length > rowDimensionsMax)
    context.addIssue({
      code: "custom",
      message: `has ${own.length} custom dimensions; a row has at most ${rowDimensionsMax}`,
    });
  for (const [group, value] of own) {
    if (value.length <= valueCharactersMax) continue;
    context.addIssue({
      code: "custom",
      path: [group.slice(dimensionPrefix.length)],
      message: `must be at most ${valueCharactersMax} characters long`,
    });
  }
}

function isFixed(key: string): boolean {
  return (fixedDimensions as readonly string[]).includes(key);
}
