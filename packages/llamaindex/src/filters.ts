/**
 * Filters of LlamaIndex as those of Pinakes. They have the semantics of LlamaIndex's own store: a missing field matches only `is_empty`;
 * `any`, `all` and `contains` search lists, `text_match` strings.
 */
import type { MetadataFilter, MetadataFilters } from "@llamaindex/core/vector-store";
import { invalidInput, type JsonObject } from "@pinakes/client";

type Scalar = string | number | boolean;

/** `emptyFields`: the node field that lists the fields with an empty string or list, if nodes have one. */
export function toFilter({ filters, condition = "and" }: MetadataFilters, emptyFields?: string): JsonObject {
  if (condition !== "and" && condition !== "or")
    throw invalidInput(`filters.condition: must be "and" or "or", got ${JSON.stringify(condition)}.`);
  return { [condition]: filters.map((filter, i) => toCondition(filter, `filters[${i}]`, emptyFields)) };
}

function toCondition(filter: MetadataFilter, where: string, emptyFields: string | undefined): JsonObject {
  const { key, value, operator } = filter;
  if (typeof key !== "string" || key === "") throw invalidInput(`${where}.key: must be the name of a field.`);
  const path = toPath(key);
  switch (operator) {
    case "==":
      return { [path]: { eq: scalar(value, where) } };
    case "!=":
      return { [path]: { exists: true, ne: scalar(value, where) } };
    case ">":
      return { [path]: { gt: scalar(value, where) } };
    case ">=":
      return { [path]: { gte: scalar(value, where) } };
    case "<":
      return { [path]: { lt: scalar(value, where) } };
    case "<=":
      return { [path]: { lte: scalar(value, where) } };
    case "in":
      return { [path]: { in: list(value, where) } };
    case "nin":
      return { [path]: { exists: true, nin: list(value, where) } };
    case "any":
      return { or: list(value, where).map((one) => ({ [path]: { contains: one } })) };
    case "all":
      return { and: list(value, where).map((one) => ({ [path]: { contains: one } })) };
    case "contains":
      return { [path]: { contains: scalar(value, where) } };
    case "text_match":
      if (typeof value !== "string") throw invalidInput(`${where}.value: text_match requires a string.`);
      return { [path]: { contains: value } };
    case "is_empty":
      if (emptyFields === undefined)
        throw invalidInput(
          `${where}.operator: is_empty is known of nodes in PinakesVectorStore only, not of documents.`,
        );
      return { or: [{ [path]: { exists: false } }, { [path]: null }, { [emptyFields]: { contains: key } }] };
    default:
      throw invalidInput(`${where}.operator: there is no operator ${JSON.stringify(operator)}.`);
  }
}

/**
 * Pinakes' `contains` also matches substrings. A node matched that way is not what a list filter means, so it is an error; without such a
 * node, the result is correct.
 */
export function checkListOperators(
  { filters }: MetadataFilters,
  found: readonly { readonly id: string; readonly metadata: JsonObject }[],
): void {
  const onLists = filters.filter(({ operator }) => operator === "any" || operator === "all" || operator === "contains");
  for (const { key, operator } of onLists) {
    const wrong = found.find(({ metadata }) => typeof metadata[key] === "string");
    if (wrong !== undefined)
      throw invalidInput(
        `filters: "${operator}" searches lists, but the field "${key}" of node ${wrong.id} is a string. Use text_match for a substring, == or in for the whole string.`,
      );
  }
}

/** Names with characters that mean something in a path are written as a pointer (RFC 6901). */
function toPath(key: string): string {
  const isPlain = /^[\w-]+$/.test(key) && !["and", "or", "not"].includes(key);
  return isPlain ? key : `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function scalar(value: unknown, where: string): Scalar {
  if (typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)))
    return value;
  throw invalidInput(`${where}.value: must be a string, a number or a boolean, got ${JSON.stringify(value)}.`);
}

function list(value: unknown, where: string): readonly Scalar[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalidInput(`${where}.value: must be a list that is not empty.`);
  return value.map((one) => scalar(one, where));
}
