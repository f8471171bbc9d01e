/** A filter as form rows, combined with AND. Other filters need JSON. */
export const operators = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "contains", "exists"] as const;
export type Operator = (typeof operators)[number];

export interface FilterRow {
  readonly field: string;
  readonly operator: Operator;
  /** As typed: 2020 is a number, "2020" a string, true a boolean; lists are comma-separated. */
  readonly value: string;
}

type Scalar = string | number | boolean | null;

/** Undefined if the filter cannot be shown as rows. */
export function rowsOf(filter: Readonly<Record<string, unknown>> | undefined): readonly FilterRow[] | undefined {
  const rows: FilterRow[] = [];
  for (const [field, test] of Object.entries(filter ?? {})) {
    if (field === "and" || field === "or" || field === "not") return undefined;
    const entries = typeof test === "object" && test !== null ? Object.entries(test) : [["eq", test] as const];
    for (const [name, operand] of entries) {
      const operator = operators.find((one) => one === name);
      const value = operator === undefined ? undefined : typed(operand);
      if (operator === undefined || value === undefined) return undefined;
      rows.push({ field, operator, value });
    }
  }
  return rows;
}

/** Skips incomplete rows. An empty text if none remains. */
export function filterTextOf(rows: readonly FilterRow[]): string {
  const filter: Record<string, Record<string, unknown>> = {};
  for (const { field, operator, value } of rows) {
    if (field.trim() === "" || (value.trim() === "" && operator !== "exists")) continue;
    (filter[field.trim()] ??= {})[operator] = operandOf(operator, value);
  }
  return Object.keys(filter).length === 0 ? "" : JSON.stringify(filter);
}

function operandOf(operator: Operator, value: string): unknown {
  if (operator === "exists") return value !== "false";
  if (operator === "in" || operator === "nin") return value.split(",").map((one) => scalarOf(one.trim()));
  return scalarOf(value.trim());
}

function scalarOf(text: string): Scalar {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? text : (parsed as Scalar);
  } catch {
    return text;
  }
}

function typed(operand: unknown): string | undefined {
  if (Array.isArray(operand)) {
    const parts = operand.map(typed);
    // A string with a comma would be parsed as two.
    return parts.every((part) => part !== undefined && !part.includes(",")) ? parts.join(", ") : undefined;
  }
  if (typeof operand === "string")
    return scalarOf(operand) === operand && operand.trim() === operand ? operand : JSON.stringify(operand);
  return operand === null || typeof operand === "number" || typeof operand === "boolean" ? String(operand) : undefined;
}
