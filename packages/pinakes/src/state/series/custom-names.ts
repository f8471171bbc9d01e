/**
 * Custom types and dimensions of metrics that a workspace defines beside the built-in ones: `custom.<name>` as a type, and string
 * properties of `dimensions`, queried as `dimensions.<name>`. Their number is bounded, since each name adds a column to every sealed hour
 * that has it. A property of `dimensions` in any other form (another type of value, an invalid name) is not a dimension; it is stored like
 * any unknown property.
 */
import { fixedMetricTypes, type MetricType } from "@pinakes/client";
import { z } from "zod";
import { show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";

export const fixedDimensions = ["session_id", "workflow_id", "environment", "model", "tool_name"] as const;

export const customLimits = Object.freeze({
  nameCharactersMax: 63,
  /** Distinct names in a workspace. */
  typesMax: 200,
  dimensionsMax: 100,
  rowDimensionsMax: 16,
  valueCharactersMax: 256,
  /** Dimensions that have columns in a block: those present in most of its rows. The others are read from the rows. */
  blockDimensionsMax: 64,
  /** Distinct values of one custom dimension in an aggregate's result. */
  answerValuesMax: 10_000,
  /** Per query, in `group_by` and in `filter`. */
  queryDimensionsMax: 16,
});

const name = `[a-z][a-z0-9_]{0,${customLimits.nameCharactersMax - 1}}`;
const nameForm = new RegExp(`^${name}$`);
const typeForm = new RegExp(`^(?:${fixedMetricTypes.join("|")}|custom\\.${name})$`);
/** Pattern of a custom dimension in queries. */
export const dimensionPattern = `dimensions\\.${name}`;
const dimensionForm = new RegExp(`^${dimensionPattern}$`);
const customPrefix = "custom.";
const dimensionPrefix = "dimensions.";
const nameWords = `a name is a lower-case letter followed by up to ${customLimits.nameCharactersMax - 1} of a-z, 0-9 and _`;

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

/** Validates a name in a query that is not a built-in dimension: returns what is wrong, or undefined if nothing is. */
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

/** Refines the schema of `dimensions`. */
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
