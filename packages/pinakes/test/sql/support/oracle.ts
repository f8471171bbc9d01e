/**
 * The oracle: random queries as pairs of a text and a function in plain JavaScript, written without the language's own parser,
 * evaluator or planner. Undefined is what is not there; conditions have three values.
 */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";

export type Value = JsonValue | undefined;
type Truth = boolean | undefined;
export interface Condition {
  readonly text: string;
  readonly of: (document: JsonObject) => Truth;
}

const scalars: readonly JsonValue[] = [
  null,
  true,
  false,
  -1,
  0,
  1,
  2,
  2.5,
  9_007_199_254_740_992,
  "",
  "1",
  "a",
  "ab",
  "b",
  "é",
  "\u{1f600}",
  "\uffee",
  "null",
  "it's",
];

const anything = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...scalars) },
  fc.constantFrom<JsonValue>([1], { k: 1 }, []),
);

export const documents: fc.Arbitrary<readonly JsonObject[]> = fc
  .array(
    fc.record(
      {
        p: fc.constantFrom("p0", "p1", "p2"),
        w: fc.constantFrom<JsonValue>("a", "b", 1, null),
        n: anything,
        s: fc.constantFrom<JsonValue>("a", "ab", "abc", "b", "", 5),
        m: fc.oneof(fc.record({ u: anything }), fc.constant("flat")),
        tags: fc.array(fc.oneof(fc.constantFrom<JsonValue>("a", 1, 2), fc.record({ t: fc.constantFrom(1, 2) })), {
          maxLength: 3,
        }),
        "odd.key\"'": anything,
        q: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: -50, max: 50 }) }, fc.constantFrom<JsonValue>("x", null)),
      },
      { requiredKeys: ["p"] },
    ),
    { maxLength: 14 },
  )
  .map((list) => list.map((document, i) => ({ id: `d${i}`, ...document })));

interface Property {
  readonly text: string;
  readonly of: (document: JsonObject) => Value;
}

const own = (value: Value, name: string): Value =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;

const properties: readonly Property[] = [
  ...["id", "p", "w", "n", "s"].map((name) => ({
    text: `c.${name}`,
    of: (document: JsonObject) => own(document, name),
  })),
  { text: "c.m.u", of: (document) => own(own(document, "m"), "u") },
  { text: 'c["odd.key\\"\'"]', of: (document) => own(document, "odd.key\"'") },
  { text: "c.tags[0]", of: (document) => (own(document, "tags") as readonly JsonValue[] | undefined)?.[0] },
];
const property = fc.constantFrom(...properties);

/** Undefined < null < false < true < numbers < strings < arrays < objects. */
export function order(a: Value, b: Value): number {
  const rank = (value: Value) =>
    value === undefined
      ? 0
      : value === null
        ? 1
        : value === false
          ? 2
          : value === true
            ? 3
            : typeof value === "number"
              ? 4
              : typeof value === "string"
                ? 5
                : Array.isArray(value)
                  ? 6
                  : 7;
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "number") return a - (b as number);
  return typeof a === "string" ? Buffer.compare(Buffer.from(a), Buffer.from(b as string)) : 0;
}

/** The order of keys does not matter to equality; the tests' objects have one key. */
export const text = (value: Value): string => JSON.stringify(value) ?? "undefined";

function compared(operator: string, a: Value, b: Value): Truth {
  if (a === undefined || b === undefined) return undefined;
  if (operator === "=" || operator === "!=") return (text(a) === text(b)) === (operator === "=");
  const type = (value: JsonValue) => (value === null ? "null" : typeof value);
  if (type(a) !== type(b) || type(a) === "object") return undefined;
  const sign = order(a, b);
  return operator === "<" ? sign < 0 : operator === "<=" ? sign <= 0 : operator === ">" ? sign > 0 : sign >= 0;
}

const and = (parts: readonly Truth[]): Truth =>
  parts.includes(false) ? false : parts.includes(undefined) ? undefined : true;
const or = (parts: readonly Truth[]): Truth =>
  parts.includes(true) ? true : parts.includes(undefined) ? undefined : false;
const not = (value: Truth): Truth => (value === undefined ? undefined : !value);

const comparison = fc
  .tuple(property, fc.constantFrom("=", "=", "=", "!=", "<", "<=", ">", ">="), anything, fc.boolean())
  .map(([path, operator, value, turned]): Condition => {
    const flip: Record<string, string> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
    return {
      text: turned
        ? `${JSON.stringify(value)} ${flip[operator] ?? operator} ${path.text}`
        : `${path.text} ${operator} ${JSON.stringify(value)}`,
      of: (document) => compared(operator, path.of(document), value),
    };
  });

const among = fc
  .tuple(property, fc.array(anything, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([path, values, negated]): Condition => {
    const of = (document: JsonObject) => or(values.map((value) => compared("=", path.of(document), value)));
    const list = values.map((value) => JSON.stringify(value)).join(", ");
    return {
      text: `${path.text} ${negated ? "NOT " : ""}IN (${list})`,
      of: negated ? (document) => not(of(document)) : of,
    };
  });

const between = fc
  .tuple(property, fc.constantFrom(...scalars), fc.constantFrom(...scalars))
  .map(([path, low, high]): Condition => ({
    text: `${path.text} BETWEEN ${JSON.stringify(low)} AND ${JSON.stringify(high)}`,
    of: (document) => and([compared(">=", path.of(document), low), compared("<=", path.of(document), high)]),
  }));

const test = (name: string, of: (value: Value) => Truth) =>
  property.map((path): Condition => ({ text: `${name}(${path.text})`, of: (document) => of(path.of(document)) }));

const prefix = fc
  .tuple(property, fc.constantFrom("", "a", "ab", "é"), fc.constantFrom("STARTSWITH", "LIKE", "CONTAINS"))
  .map(([path, part, how]): Condition => {
    const value = (document: JsonObject) => path.of(document);
    const of = (document: JsonObject): Truth => {
      const found = value(document);
      if (typeof found !== "string") return undefined;
      return how === "CONTAINS" ? found.includes(part) : found.startsWith(part);
    };
    return { text: how === "LIKE" ? `${path.text} LIKE '${part}%'` : `${how}(${path.text}, '${part}')`, of };
  });

const tags = (document: JsonObject): readonly JsonValue[] | undefined =>
  own(document, "tags") as readonly JsonValue[] | undefined;
const inArray = fc.constantFrom<JsonValue>("a", 1, { t: 1 }).map((value): Condition => ({
  text: `ARRAY_CONTAINS(c.tags, ${JSON.stringify(value)})`,
  of: (document) => tags(document)?.some((tag) => text(tag) === text(value)),
}));
const exists = fc.constantFrom(1, 2).map((value): Condition => ({
  text: `EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.t = ${value})`,
  of: (document) => tags(document)?.some((tag) => own(tag, "t") === value) ?? false,
}));

const leaf = fc.oneof(
  { weight: 6, arbitrary: comparison },
  { weight: 2, arbitrary: among },
  between,
  prefix,
  inArray,
  exists,
  test("IS_DEFINED", (value) => value !== undefined),
  test("IS_NULL", (value) => value === null),
  test("IS_STRING", (value) => typeof value === "string"),
  test("IS_NUMBER", (value) => typeof value === "number"),
);

const condition: fc.Arbitrary<Condition> = fc.letrec<{ node: Condition }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: leaf },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom("AND", "OR"), fc.array(tie("node"), { minLength: 2, maxLength: 3 }))
        .map(([operator, parts]): Condition => ({
          text: `(${parts.map((part) => part.text).join(` ${operator} `)})`,
          of: (document) => (operator === "AND" ? and : or)(parts.map((part) => part.of(document))),
        })),
    },
    {
      weight: 1,
      arbitrary: tie("node").map((part): Condition => ({
        text: `NOT (${part.text})`,
        of: (document) => not(part.of(document)),
      })),
    },
  ),
})).node;

const named = (wanted: string): Property => properties.find((candidate) => candidate.text === wanted) as Property;
const lookUp = (path: string, values: readonly JsonValue[]): Condition => ({
  text:
    values.length === 1
      ? `${path} = ${JSON.stringify(values[0])}`
      : `${path} IN (${values.map((value) => JSON.stringify(value)).join(", ")})`,
  of: (document) => or(values.map((value) => compared("=", named(path).of(document), value))),
});

/** What the indexes of the tests look up, so that they are used as often as not; alone or with anything else. */
const lookedUp = fc.oneof(
  fc.subarray(["p0", "p1", "p2"], { minLength: 1 }).map((values) => lookUp("c.p", values)),
  fc.subarray<JsonValue>(["a", "b", 1, null], { minLength: 1, maxLength: 3 }).map((values) => lookUp("c.w", values)),
  fc.constantFrom(...scalars).map((value) => lookUp("c.m.u", [value])),
);
const all = (parts: readonly Condition[]): Condition => ({
  text: parts.map((part) => part.text).join(" AND "),
  of: (document) => and(parts.map((part) => part.of(document))),
});
const alsoSorted = fc.oneof(
  fc.subarray(["a", "ab", "b"], { minLength: 1 }).map((values) => lookUp("c.s", values)),
  fc
    .tuple(
      fc.constantFrom("c.n", "c.s", "c.id"),
      fc.constantFrom("<", "<=", ">", ">="),
      fc.constantFrom<JsonValue>(1, 0, "a", "d3"),
    )
    .map(([path, operator, value]): Condition => ({
      text: `${path} ${operator} ${JSON.stringify(value)}`,
      of: (document) => compared(operator, named(path).of(document), value),
    })),
);

export const filter: fc.Arbitrary<Condition> = fc.oneof(
  condition,
  lookedUp,
  // Of two properties by OR neither can be looked up.
  fc.tuple(lookedUp, lookedUp).map((parts): Condition => ({
    text: `(${parts.map((part) => part.text).join(" OR ")})`,
    of: (document) => or(parts.map((part) => part.of(document))),
  })),
  fc.tuple(lookedUp, alsoSorted).map(all),
  fc.tuple(lookedUp, condition).map(all),
  fc.tuple(lookedUp, alsoSorted, alsoSorted).map(all),
);

const served = fc
  .tuple(fc.constantFrom("n", "s-,n", "s", "id", "n,s-", "w,n", "p,n"), fc.boolean())
  .map(([keys, turned]) =>
    keys
      .split(",")
      .map((key) => ({ property: named(`c.${key.replace("-", "")}`), descending: key.endsWith("-") !== turned })),
  );

export const orderKeys = fc.oneof(
  served,
  fc.uniqueArray(fc.record({ property, descending: fc.boolean() }), {
    minLength: 1,
    maxLength: 3,
    selector: (entry) => entry.property.text,
  }),
);
export { property as anyProperty };
