/** XML Schema numbers: integers and decimals are exact, floats and doubles are IEEE 754. */
import { termOf, xsd, type TermText } from "../../domain/rdf.ts";
import { sparqlLimits } from "../limits.ts";

export type Numeric =
  | {
      readonly kind: "integer" | "decimal";
      /** The value without its decimal point. */ readonly digits: bigint;
      /** Digits after the decimal point. */ readonly scale: number;
    }
  | { readonly kind: "float" | "double"; readonly value: number };

/** Minimum and maximum of the types derived from integer; undefined means unbounded. */
const integerRanges: Readonly<Record<string, readonly [bigint | undefined, bigint | undefined]>> = {
  integer: [undefined, undefined],
  nonPositiveInteger: [undefined, 0n],
  negativeInteger: [undefined, -1n],
  nonNegativeInteger: [0n, undefined],
  positiveInteger: [1n, undefined],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-32_768n, 32_767n],
  byte: [-128n, 127n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 65_535n],
  unsignedByte: [0n, 255n],
};

const ranks = { integer: 0, decimal: 1, float: 2, double: 3 } as const;
const integerForm = /^[+-]?\d+$/;
const decimalForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;
const doubleForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Digits after the decimal point of a quotient. */
const quotientScale = 18;

export function isNumericType(datatype: string | undefined): boolean {
  if (datatype === undefined || !datatype.startsWith(xsd)) return false;
  const name = datatype.slice(xsd.length);
  return name === "decimal" || name === "double" || name === "float" || Object.hasOwn(integerRanges, name);
}

/** Undefined for anything that is not a number, even if its datatype is numeric. */
export function numericOf(text: TermText): Numeric | undefined {
  if (!text.endsWith(">") || !text.startsWith('"')) return undefined;
  const term = termOf(text);
  if (term.type !== "literal" || term.datatype === undefined || !isNumericType(term.datatype)) return undefined;
  return parseNumeric(term.value, term.datatype.slice(xsd.length));
}

export function parseNumeric(lexical: string, type: string): Numeric | undefined {
  if (lexical.length > sparqlLimits.numberCharsMax) return undefined;
  if (type === "double" || type === "float") {
    const value = parseDouble(lexical);
    return value === undefined ? undefined : { kind: type, value: type === "float" ? Math.fround(value) : value };
  }
  if (type === "decimal") return parseDecimal(lexical);
  if (!integerForm.test(lexical)) return undefined;
  const digits = BigInt(lexical.startsWith("+") ? lexical.slice(1) : lexical);
  const [least, greatest] = integerRanges[type] ?? [undefined, undefined];
  return (least !== undefined && digits < least) || (greatest !== undefined && digits > greatest)
    ? undefined
    : { kind: "integer", digits, scale: 0 };
}

function parseDouble(lexical: string): number | undefined {
  if (lexical === "INF" || lexical === "+INF") return Infinity;
  if (lexical === "-INF") return -Infinity;
  if (lexical === "NaN") return Number.NaN;
  return doubleForm.test(lexical) ? Number(lexical) : undefined;
}

function parseDecimal(lexical: string): Numeric | undefined {
  if (!decimalForm.test(lexical)) return undefined;
  const negative = lexical.startsWith("-");
  const [whole = "", fraction = ""] = lexical.replace(/^[+-]/, "").split(".");
  const digits = BigInt(`${whole}${fraction}` || "0");
  return decimal(negative ? -digits : digits, fraction.length);
}

/** Removes trailing zeros. */
function decimal(digits: bigint, scale: number): Numeric {
  let [rest, places] = [digits, scale];
  while (places > 0 && rest % 10n === 0n) {
    rest /= 10n;
    places -= 1;
  }
  return { kind: "decimal", digits: rest, scale: places };
}

export function integer(value: bigint | number): TermText {
  return `"${value}"^^<${xsd}integer>`;
}

export function toNumber(value: Numeric): number {
  if ("value" in value) return value.value;
  return value.scale === 0 ? Number(value.digits) : Number(lexicalOf(value));
}

/** Undefined if a number has too many digits. */
export function numericText(value: Numeric): TermText | undefined {
  const lexical = lexicalOf(value);
  return lexical.length > sparqlLimits.numberCharsMax ? undefined : `"${lexical}"^^<${xsd}${value.kind}>`;
}

export function lexicalOf(value: Numeric): string {
  if ("value" in value) return doubleLexical(value.value, value.kind === "float");
  if (value.scale === 0) return String(value.digits);
  const sign = value.digits < 0n ? "-" : "";
  const digits = String(value.digits < 0n ? -value.digits : value.digits).padStart(value.scale + 1, "0");
  return `${sign}${digits.slice(0, -value.scale)}.${digits.slice(-value.scale)}`;
}

function doubleLexical(value: number, single: boolean): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "INF" : "-INF";
  if (value === 0) return Object.is(value, -0) ? "-0.0E0" : "0.0E0";
  let text = value.toExponential();
  for (let digits = 1; single && digits <= 9; digits += 1) {
    text = value.toExponential(digits - 1);
    if (Math.fround(Number(text)) === value) break;
  }
  const [mantissa = "", exponent = ""] = text.split("e");
  return `${mantissa.includes(".") ? mantissa : `${mantissa}.0`}E${exponent.replace("+", "")}`;
}

/** -1, 0 or 1; undefined if either is NaN. */
export function compareNumeric(a: Numeric, b: Numeric): number | undefined {
  if ("digits" in a && "digits" in b) {
    const [x, y] = aligned(a, b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const [x, y] = [toNumber(a), toNumber(b)];
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : undefined;
}

type Exact = Extract<Numeric, { digits: bigint }>;

function aligned(a: Exact, b: Exact): readonly [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale);
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale), scale];
}

export type Arithmetic = "+" | "-" | "*" | "/";

/** Undefined for an exact division by zero. */
export function calculate(operator: Arithmetic, a: Numeric, b: Numeric): Numeric | undefined {
  const kind = ranks[a.kind] >= ranks[b.kind] ? a.kind : b.kind;
  if (kind === "float" || kind === "double") {
    const value = calculateDouble(operator, toNumber(a), toNumber(b));
    return { kind, value: kind === "float" ? Math.fround(value) : value };
  }
  return exact(operator, a as Exact, b as Exact, kind);
}

function exact(operator: Arithmetic, a: Exact, b: Exact, kind: "integer" | "decimal"): Numeric | undefined {
  const [x, y, scale] = aligned(a, b);
  const as = (digits: bigint, places: number): Numeric =>
    kind === "integer" ? { kind, digits, scale: 0 } : decimal(digits, places);
  if (operator === "+") return as(x + y, scale);
  if (operator === "-") return as(x - y, scale);
  if (operator === "*") return as(a.digits * b.digits, a.scale + b.scale);
  return y === 0n ? undefined : decimal((x * 10n ** BigInt(quotientScale)) / y, quotientScale);
}

function calculateDouble(operator: Arithmetic, x: number, y: number): number {
  if (operator === "+") return x + y;
  if (operator === "-") return x - y;
  return operator === "*" ? x * y : x / y;
}

export function negate(value: Numeric): Numeric {
  return "value" in value ? { ...value, value: -value.value } : { ...value, digits: -value.digits };
}

export type Rounding = "abs" | "ceil" | "floor" | "round";

export function rounded(how: Rounding, value: Numeric): Numeric {
  if ("value" in value) {
    const round = how === "abs" ? Math.abs : how === "ceil" ? Math.ceil : how === "floor" ? Math.floor : Math.round;
    return { ...value, value: round(value.value) };
  }
  if (how === "abs") return value.digits < 0n ? negate(value) : value;
  const unit = 10n ** BigInt(value.scale);
  // Rounds towards minus infinity.
  const floorOf = (digits: bigint) => (digits - (((digits % unit) + unit) % unit)) / unit;
  if (how === "floor") return { ...value, digits: floorOf(value.digits), scale: 0 };
  if (how === "ceil") return { ...value, digits: -floorOf(-value.digits), scale: 0 };
  return { ...value, digits: roundHalfUp(value.digits, unit), scale: 0 };
}

/** Rounds to the nearest integer; ties round up. */
function roundHalfUp(digits: bigint, unit: bigint): bigint {
  const doubled = digits * 2n + unit;
  const whole = unit * 2n;
  return (doubled - (((doubled % whole) + whole) % whole)) / whole;
}
