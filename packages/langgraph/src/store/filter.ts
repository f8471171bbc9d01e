/** LangGraph's filters: `{ status: "active", score: { $gte: 3 } }`, on the properties of a value. */

type Operator = (held: unknown, wanted: unknown) => boolean;

const operators: Readonly<Record<string, Operator>> = {
  $eq: equal,
  $ne: (held, wanted) => !equal(held, wanted),
  $gt: (held, wanted) => compared(held, wanted, (order) => order > 0),
  $gte: (held, wanted) => compared(held, wanted, (order) => order >= 0),
  $lt: (held, wanted) => compared(held, wanted, (order) => order < 0),
  $lte: (held, wanted) => compared(held, wanted, (order) => order <= 0),
  $in: (held, wanted) => Array.isArray(wanted) && wanted.some((one) => equal(held, one)),
  $nin: (held, wanted) => !Array.isArray(wanted) || !wanted.some((one) => equal(held, one)),
};

export function matchesFilter(
  value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>> = {},
): boolean {
  return Object.entries(filter).every(([name, wanted]) => {
    const held = Object.hasOwn(value, name) ? value[name] : undefined;
    if (!isOperators(wanted)) return equal(held, wanted);
    return Object.entries(wanted).every(([operator, operand]) => operatorOf(operator)(held, operand));
  });
}

function isOperators(wanted: unknown): wanted is Readonly<Record<string, unknown>> {
  return (
    typeof wanted === "object" &&
    wanted !== null &&
    !Array.isArray(wanted) &&
    Object.keys(wanted).some((key) => key.startsWith("$"))
  );
}

function operatorOf(name: string): Operator {
  const operator = operators[name];
  if (operator !== undefined) return operator;
  throw new Error(`A filter has the operators ${Object.keys(operators).join(", ")}; "${name}" is none of them.`);
}

function equal(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/** Texts among themselves; anything else as numbers, as LangGraph does it. */
function compared(held: unknown, wanted: unknown, holds: (order: number) => boolean): boolean {
  if (held === undefined || held === null) return false;
  if (typeof held === "string" && typeof wanted === "string" && Number.isNaN(Number(wanted)))
    return holds(held < wanted ? -1 : Number(held > wanted));
  return holds(Number(held) - Number(wanted));
}
