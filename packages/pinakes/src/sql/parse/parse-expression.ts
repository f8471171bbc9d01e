/** Expressions, by precedence: ?: and ??, OR, AND, NOT, comparisons, + - ||, * / %, signs, then names, literals and calls. */
import { type AggregateName, anyInside, type BinaryOperator, type Expression } from "../ast.ts";
import { functionNames, isFunctionName, requireArguments } from "../expressions/functions.ts";
import { sqlLimits } from "../limits.ts";
import { parseSubquery } from "./parse-query.ts";
import type { TokenStream } from "./token-stream.ts";

const aggregateNames: ReadonlySet<string> = new Set<AggregateName>([
  "COUNT",
  "COUNTIF",
  "SUM",
  "AVG",
  "MIN",
  "MAX",
  "MAKELIST",
  "MAKESET",
]);
const comparisons: Readonly<Record<string, BinaryOperator>> = {
  "=": "=",
  "!=": "!=",
  "<>": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};

export function parseExpression(tokens: TokenStream): Expression {
  return tokens.nested(() => {
    const test = coalesce(tokens);
    if (!tokens.takeSymbol("?")) return test;
    const whenTrue = parseExpression(tokens);
    tokens.expectSymbol(":");
    return { kind: "conditional", test, whenTrue, otherwise: parseExpression(tokens) };
  });
}

function coalesce(tokens: TokenStream): Expression {
  return chain(tokens, ["??"], (stream) => logical(stream, "OR"));
}

/** AND and OR with all their operands in one node, so that a long list of conditions is not deeply nested. */
function logical(tokens: TokenStream, operator: "AND" | "OR"): Expression {
  const parse = () => (operator === "OR" ? logical(tokens, "AND") : negation(tokens));
  const parts = [parse()];
  while (tokens.takeKeyword(operator)) {
    tokens.requireCount(parts.length + 1, sqlLimits.listItemsMax, `conditions joined by ${operator}`);
    parts.push(parse());
  }
  return parts.length === 1 ? (parts[0] as Expression) : { kind: "logical", operator, parts };
}

function negation(tokens: TokenStream): Expression {
  if (!tokens.takeKeyword("NOT")) return comparison(tokens);
  return tokens.nested(() => ({ kind: "unary", operator: "NOT", operand: negation(tokens) }));
}

function comparison(tokens: TokenStream): Expression {
  let left = additive(tokens);
  for (let count = 1; ; count += 1) {
    tokens.requireCount(count, sqlLimits.depthMax, "comparisons in a row");
    const operator = tokens.token.kind === "symbol" ? comparisons[tokens.token.text] : undefined;
    if (operator !== undefined) {
      tokens.take();
      left = { kind: "binary", operator, left, right: additive(tokens) };
      continue;
    }
    const negated =
      tokens.isKeyword("NOT") && ["IN", "BETWEEN", "LIKE"].some((word) => tokens.isKeyword(word, tokens.peek()));
    if (negated) tokens.take();
    const found = wordComparison(tokens, left);
    if (found === undefined) return left;
    left = negated ? { kind: "unary", operator: "NOT", operand: found } : found;
  }
}

function wordComparison(tokens: TokenStream, operand: Expression): Expression | undefined {
  if (tokens.takeKeyword("IN")) {
    tokens.expectSymbol("(");
    if (tokens.isKeyword("SELECT"))
      throw tokens.unsupported(tokens.token.at, "a subquery after IN", "use EXISTS(SELECT VALUE …)");
    const values = tokens.list(() => parseExpression(tokens), sqlLimits.listItemsMax, "values in an IN");
    tokens.expectSymbol(")");
    return { kind: "in", operand, values };
  }
  if (tokens.takeKeyword("BETWEEN")) {
    const low = additive(tokens);
    tokens.expectKeyword("AND");
    return { kind: "between", operand, low, high: additive(tokens) };
  }
  if (!tokens.takeKeyword("LIKE")) return undefined;
  const pattern = additive(tokens);
  if (!tokens.takeKeyword("ESCAPE")) return { kind: "like", operand, pattern, escape: undefined };
  const { kind, text, at } = tokens.take();
  if (kind !== "string" || Array.from(text).length !== 1)
    throw tokens.error(at, "ESCAPE must be followed by one character in quotes, such as '!'");
  return { kind: "like", operand, pattern, escape: text };
}

function additive(tokens: TokenStream): Expression {
  return chain(tokens, ["+", "-", "||"], (stream) => chain(stream, ["*", "/", "%"], signed));
}

function chain(
  tokens: TokenStream,
  operators: readonly BinaryOperator[],
  parse: (tokens: TokenStream) => Expression,
): Expression {
  let left = parse(tokens);
  for (let count = 1; ; count += 1) {
    const operator =
      tokens.token.kind === "symbol" ? operators.find((candidate) => candidate === tokens.token.text) : undefined;
    if (operator === undefined) return left;
    tokens.requireCount(count, sqlLimits.depthMax, `operators ${operators.join(" ")} in a row`);
    tokens.take();
    left = { kind: "binary", operator, left, right: parse(tokens) };
  }
}

function signed(tokens: TokenStream): Expression {
  for (const operator of ["-", "+"] as const) {
    if (tokens.takeSymbol(operator)) return tokens.nested(() => ({ kind: "unary", operator, operand: signed(tokens) }));
  }
  return members(tokens, primary(tokens));
}

/** `.name`, `["name"]` and `[0]` after an expression. */
function members(tokens: TokenStream, start: Expression): Expression {
  let of = start;
  for (let count = 1; ; count += 1) {
    tokens.requireCount(count, sqlLimits.depthMax, "steps in a path");
    if (tokens.takeSymbol(".")) {
      if (tokens.token.kind !== "name")
        throw tokens.expected('the name of a property (or ["…"] if it has other characters)');
      of = { kind: "member", of, key: { kind: "literal", value: tokens.take().text } };
    } else if (tokens.takeSymbol("[")) {
      of = { kind: "member", of, key: parseExpression(tokens) };
      tokens.expectSymbol("]");
    } else return of;
  }
}

function primary(tokens: TokenStream): Expression {
  const { kind, text, at } = tokens.token;
  if (kind === "string" || kind === "number") {
    tokens.take();
    return { kind: "literal", value: kind === "number" ? Number(text) : text };
  }
  if (kind === "parameter") {
    tokens.take();
    return { kind: "parameter", name: text };
  }
  if (kind === "name") return named(tokens);
  if (tokens.takeSymbol("(")) {
    if (tokens.isKeyword("SELECT"))
      throw tokens.unsupported(at, "a subquery in parentheses", "use EXISTS(SELECT VALUE …) or ARRAY(SELECT VALUE …)");
    const inner = parseExpression(tokens);
    tokens.expectSymbol(")");
    return inner;
  }
  if (tokens.takeSymbol("[")) return arrayLiteral(tokens);
  if (tokens.takeSymbol("{")) return objectLiteral(tokens);
  throw tokens.expected("a value");
}

function arrayLiteral(tokens: TokenStream): Expression {
  if (tokens.takeSymbol("]")) return { kind: "array", items: [] };
  const items = tokens.list(() => parseExpression(tokens), sqlLimits.listItemsMax, "elements in an array");
  tokens.expectSymbol("]");
  return { kind: "array", items };
}

function objectLiteral(tokens: TokenStream): Expression {
  if (tokens.takeSymbol("}")) return { kind: "object", properties: [] };
  const property = () => {
    const { kind, text, at } = tokens.token;
    if (kind !== "string" && kind !== "name") throw tokens.expected("the name of a property");
    tokens.take();
    tokens.expectSymbol(":");
    return { name: text, at, value: parseExpression(tokens) };
  };
  const properties = tokens.list(property, sqlLimits.listItemsMax, "properties in an object");
  tokens.expectSymbol("}");
  const twice = properties.find(({ name }, i) => properties.findIndex((other) => other.name === name) < i);
  if (twice !== undefined) throw tokens.error(twice.at, `the property "${twice.name}" is specified twice`);
  return { kind: "object", properties };
}

const constants: Readonly<Record<string, boolean | null | undefined>> = {
  TRUE: true,
  FALSE: false,
  NULL: null,
  UNDEFINED: undefined,
};

function named(tokens: TokenStream): Expression {
  const { text, at } = tokens.token;
  const upper = text.toUpperCase();
  if (upper in constants) {
    tokens.take();
    return { kind: "literal", value: constants[upper] };
  }
  if ((upper === "EXISTS" || upper === "ARRAY") && tokens.isSymbol("(", tokens.peek())) {
    tokens.take();
    tokens.take();
    const query = tokens.nested(() => parseSubquery(tokens));
    tokens.expectSymbol(")");
    return { kind: upper === "EXISTS" ? "exists" : "collect", query };
  }
  if (upper === "UDF" && tokens.isSymbol(".", tokens.peek()))
    throw tokens.unsupported(at, "user-defined functions (udf.…)");
  if (tokens.isSymbol("(", tokens.peek())) return call(tokens);
  if (!tokens.isName()) throw tokens.expected("a value");
  tokens.take();
  return { kind: "reference", alias: text, slot: tokens.slotOf(text, at) };
}

function call(tokens: TokenStream): Expression {
  const { text, at } = tokens.take();
  const name = text.toUpperCase();
  if (!aggregateNames.has(name) && !isFunctionName(name)) {
    const what =
      foreignFunctions.has(name) || name.startsWith("ST_")
        ? `the function ${name} of Cosmos DB`
        : `an unknown function ${text}`;
    throw tokens.unsupported(at, what, `known are ${[...functionNames, ...aggregateNames].join(", ")}`);
  }
  tokens.expectSymbol("(");
  const given = tokens.isSymbol(")")
    ? []
    : tokens.list(() => parseExpression(tokens), sqlLimits.listItemsMax, `arguments of ${name}`);
  tokens.expectSymbol(")");
  if (!aggregateNames.has(name)) {
    const objection = requireArguments(name, given.length);
    if (objection !== undefined) throw tokens.error(at, objection);
    return { kind: "call", name, arguments: given };
  }
  const [argument] = given;
  if (argument === undefined || given.length > 1)
    throw tokens.error(at, `${name} takes one argument, such as ${name}(${name === "COUNT" ? "1" : "c.price"})`);
  if (anyInside(argument, ({ kind }) => kind === "aggregate"))
    throw tokens.error(at, `${name} of another aggregate; aggregates cannot be nested`);
  return { kind: "aggregate", name: name as AggregateName, argument };
}

/** Functions of Cosmos DB that this subset does not have, so that an error can say so instead of calling them unknown. */
const foreignFunctions: ReadonlySet<string> = new Set(
  [
    "RAND NUMBERBIN INTADD INTBITAND INTBITLEFTSHIFT INTBITNOT INTBITOR INTBITRIGHTSHIFT INTBITXOR INTDIV INTMOD INTMUL INTSUB",
    "CONTAINS_ANY_CI CONTAINS_ANY_CS CONTAINS_ALL_CI CONTAINS_ALL_CS TYPE DOCUMENTID HASH DATETIMEFORMAT",
    "FIRST LAST LASTSUBSTRING ALL FULLTEXTCONTAINS FULLTEXTCONTAINSALL FULLTEXTCONTAINSANY FULLTEXTSCORE RRF VECTORDISTANCE",
  ].flatMap((line) => line.split(" ")),
);
