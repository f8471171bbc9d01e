/** A filter as rows of a form: "year ≥ 2020", all of which must hold. What rows cannot say is left to JSON. */
export const operators = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "nin", "contains", "exists"] as const;
export type Operator = (typeof operators)[number];

export interface FilterRow {
  readonly field: string;
  readonly operator: Operator;
  /** As typed: 2020 is a number, "2020" a text, true a truth value; a list has commas. */
  readonly value: string;
}

type Scalar = string | number | boolean | null;

/** Undefined where the filter is more than rows. */
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

/** Rows that are not finished yet are left out. An empty text when none is left. */
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
    // A text with a comma in it would come back as two.
    return parts.every((part) => part !== undefined && !part.includes(",")) ? parts.join(", ") : undefined;
  }
  if (typeof operand === "string")
    return scalarOf(operand) === operand && operand.trim() === operand ? operand : JSON.stringify(operand);
  return operand === null || typeof operand === "number" || typeof operand === "boolean" ? String(operand) : undefined;
}
