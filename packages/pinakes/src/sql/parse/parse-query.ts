/** Parses a query: clauses and their rules. FROM is parsed before SELECT, because it declares the aliases that SELECT uses. */
import {
  anyInside,
  type Count,
  type Expression,
  type Join,
  type OrderKey,
  type Query,
  type Select,
  type Subquery,
} from "../ast.ts";
import { requireGrouped, requireDistinctOrder } from "./grouping-rules.ts";
import { sqlLimits } from "../limits.ts";
import { parseExpression } from "./parse-expression.ts";
import { hiddenAlias, TokenStream } from "./token-stream.ts";

/**
 * Checks the whole text. A syntax error is INVALID with its position: `query: syntax error at line 1, column 17: …`; so is what Cosmos DB
 * supports and this subset does not: `query: not supported at …`.
 */
export function parseQuery(text: string): Query {
  const tokens = new TokenStream(text);
  tokens.expectKeyword("SELECT");
  const distinct = tokens.takeKeyword("DISTINCT");
  const top = tokens.takeKeyword("TOP") ? parseCount(tokens, "TOP") : undefined;
  const selectAt = tokens.mark();
  skipToFrom(tokens);
  const { root, joins, star } = parseFrom(tokens);
  const fromEnd = tokens.mark();
  tokens.back(selectAt);
  const select = parseSelect(tokens, joins.length, star);
  if (!tokens.isKeyword("FROM")) throw tokens.expected("a comma or FROM");
  tokens.back(fromEnd);
  const whereAt = tokens.token.at;
  const where = tokens.takeKeyword("WHERE") ? parseExpression(tokens) : undefined;
  if (where !== undefined && anyInside(where, isAggregate))
    throw tokens.error(whereAt, "WHERE applies to single documents and cannot contain an aggregate");
  const groupAt = tokens.token.at;
  const groupBy = parseGroupBy(tokens);
  const orderAt = tokens.token.at;
  const ordered = parseOrderBy(tokens);
  const offset = tokens.takeKeyword("OFFSET") ? parseCount(tokens, "OFFSET") : undefined;
  if (offset === undefined && tokens.isKeyword("LIMIT"))
    throw tokens.error(tokens.token.at, "LIMIT requires OFFSET: OFFSET 0 LIMIT 10 (or SELECT TOP 10)");
  if (offset !== undefined) tokens.expectKeyword("LIMIT");
  const limit = offset === undefined ? undefined : parseCount(tokens, "LIMIT");
  if (tokens.token.kind !== "end") throw tokens.expected("the end of the query");
  const aggregates = selected(select).some((expression) => anyInside(expression, isAggregate));
  if (top !== undefined && offset !== undefined)
    throw tokens.unsupported(orderAt, "TOP together with OFFSET and LIMIT", "use one of them");
  if (groupBy.length > 0 && ordered.length > 0)
    throw tokens.unsupported(orderAt, "ORDER BY together with GROUP BY (nor has Cosmos DB)");
  // A single row has no order. Cosmos DB accepts it as well.
  const orderBy = aggregates ? [] : ordered;
  const query = { text, select, distinct, top, root, joins, where, groupBy, orderBy, offset, limit, aggregates };
  if (aggregates || groupBy.length > 0) requireGrouped(query, (detail) => tokens.error(groupAt, detail));
  if (distinct && orderBy.length > 0) requireDistinctOrder(query, (detail) => tokens.error(orderAt, detail));
  return query;
}

function isAggregate({ kind }: Expression): boolean {
  return kind === "aggregate";
}

function selected(select: Select): readonly Expression[] {
  if (select.kind === "star") return [];
  return select.kind === "value" ? [select.expression] : select.items.map(({ expression }) => expression);
}

/** Skips to the FROM of this SELECT, past any in parentheses. */
function skipToFrom(tokens: TokenStream): void {
  if (tokens.isSymbol("*") && !tokens.isKeyword("FROM", tokens.peek())) {
    tokens.take();
    throw tokens.expected("FROM");
  }
  for (let open = 0; ; tokens.take()) {
    if (tokens.token.kind === "end") throw tokens.expected("FROM (a query reads a container: SELECT … FROM c)");
    if (["(", "[", "{"].some((symbol) => tokens.isSymbol(symbol))) open += 1;
    if ([")", "]", "}"].some((symbol) => tokens.isSymbol(symbol))) open -= 1;
    if (open === 0 && tokens.isKeyword("FROM") && !tokens.isSymbol(".", tokens.peek(-1))) return;
  }
}

interface From {
  readonly root: string;
  readonly joins: readonly Join[];
  /** The meaning of SELECT * if FROM is a subquery. */
  readonly star?: Expression;
}

function parseFrom(tokens: TokenStream): From {
  tokens.expectKeyword("FROM");
  if (tokens.isSymbol("(")) return parseFromSubquery(tokens);
  const at = tokens.token.at;
  const name = tokens.expectName("the name or alias of the container");
  if (tokens.takeKeyword("IN")) {
    // FROM t IN c.items: the document still has its alias.
    const rootAt = tokens.token.at;
    const root = tokens.expectName("the alias of the container");
    tokens.declare(root, rootAt);
    const source = pathFrom(tokens, root, rootAt);
    const first = { alias: name, slot: tokens.declare(name, at), source };
    return { root, joins: parseJoins(tokens, [first]) };
  }
  if (tokens.isSymbol(".") || tokens.isSymbol("["))
    throw tokens.unsupported(tokens.token.at, "a path in FROM", `use FROM ${name} and JOIN t IN ${name}.items`);
  const explicit = tokens.takeKeyword("AS");
  const root = explicit || tokens.isAlias() ? tokens.expectName("an alias") : name;
  tokens.declare(root, at);
  return { root, joins: parseJoins(tokens, []) };
}

/** FROM (SELECT VALUE … FROM c …) t: for each document, t is each value that the subquery returns for it. */
function parseFromSubquery(tokens: TokenStream): From {
  tokens.declare(hiddenAlias, tokens.token.at);
  const first = subqueryJoin(tokens, true);
  const joins = parseJoins(tokens, [first]);
  const { alias, slot } = first;
  return { root: alias, joins, ...(joins.length === 1 ? { star: { kind: "reference", alias, slot } } : {}) };
}

function subqueryJoin(tokens: TokenStream, ofDocument: boolean): Join {
  tokens.expectSymbol("(");
  const query = tokens.nested(() => parseSubquery(tokens, ofDocument));
  tokens.expectSymbol(")");
  tokens.takeKeyword("AS");
  const { at } = tokens.token;
  const alias = tokens.expectName("an alias");
  return { alias, slot: tokens.declare(alias, at), source: { kind: "collect", query } };
}

function parseJoins(tokens: TokenStream, before: readonly Join[]): readonly Join[] {
  const joins = [...before];
  while (tokens.takeKeyword("JOIN")) {
    tokens.requireCount(joins.length + 1, sqlLimits.joinsMax, "JOINs");
    if (tokens.isSymbol("(")) {
      joins.push(subqueryJoin(tokens, false));
      continue;
    }
    const at = tokens.token.at;
    const alias = tokens.expectName("an alias");
    if (tokens.isName())
      throw tokens.unsupported(
        at,
        "a JOIN of two containers",
        "a query reads one; JOIN t IN c.items iterates over an array of the document",
      );
    tokens.expectKeyword("IN");
    const from = tokens.token.at;
    if (tokens.isSymbol("(")) throw tokens.unsupported(from, "a subquery in JOIN", "use JOIN t IN c.items and WHERE");
    const source = pathFrom(tokens, tokens.expectName("the alias that contains the array"), from);
    joins.push({ alias, slot: tokens.declare(alias, at), source });
  }
  return joins;
}

function pathFrom(tokens: TokenStream, alias: string, at: number): Expression {
  let of: Expression = { kind: "reference", alias, slot: tokens.slotOf(alias, at) };
  for (let count = 1; ; count += 1) {
    tokens.requireCount(count, sqlLimits.depthMax, "steps in a path");
    if (tokens.takeSymbol(".")) {
      if (tokens.token.kind !== "name") throw tokens.expected("the name of a property");
      of = { kind: "member", of, key: { kind: "literal", value: tokens.take().text } };
    } else if (tokens.takeSymbol("[")) {
      const { kind, text } = tokens.token;
      if (kind !== "string" && kind !== "number")
        throw tokens.expected("the name of a property in quotes, or an array index");
      tokens.take();
      of = { kind: "member", of, key: { kind: "literal", value: kind === "number" ? Number(text) : text } };
      tokens.expectSymbol("]");
    } else return of;
  }
}

function parseSelect(tokens: TokenStream, joins: number, star: Expression | undefined): Select {
  const { at } = tokens.token;
  if (tokens.takeSymbol("*")) {
    if (star !== undefined) return { kind: "value", expression: star };
    if (joins > 0)
      throw tokens.error(
        at,
        "SELECT * selects one document and is not allowed with JOIN; select values explicitly, such as SELECT VALUE c",
      );
    return { kind: "star" };
  }
  if (tokens.takeKeyword("VALUE")) return { kind: "value", expression: parseExpression(tokens) };
  let unnamed = 0;
  const item = () => {
    const expression = parseExpression(tokens);
    const nameAt = tokens.token.at;
    const explicit = tokens.takeKeyword("AS") || tokens.isAlias();
    if (explicit) return { name: tokens.expectName("a name after AS"), at: nameAt, expression };
    const own = ownName(expression);
    return { name: own ?? `$${(unnamed += 1)}`, at: nameAt, expression };
  };
  const items = tokens.list(item, sqlLimits.selectItemsMax, "values in SELECT");
  const twice = items.find(({ name }, i) => items.findIndex((other) => other.name === name) < i);
  if (twice !== undefined)
    throw tokens.error(twice.at, `two values of SELECT are named "${twice.name}"; rename one with AS`);
  return { kind: "list", items };
}

/** `c.price` is named "price" and `c` is named "c"; values without a name are $1, $2, … */
function ownName(expression: Expression): string | undefined {
  if (expression.kind === "reference") return expression.alias;
  if (expression.kind !== "member" || expression.key.kind !== "literal" || typeof expression.key.value !== "string")
    return undefined;
  return expression.key.value;
}

function parseGroupBy(tokens: TokenStream): readonly Expression[] {
  if (!tokens.takeKeyword("GROUP")) return [];
  tokens.expectKeyword("BY");
  return tokens.list(() => parseExpression(tokens), sqlLimits.groupKeysMax, "values in GROUP BY");
}

function parseOrderBy(tokens: TokenStream): readonly OrderKey[] {
  if (!tokens.takeKeyword("ORDER")) return [];
  tokens.expectKeyword("BY");
  if (tokens.isKeyword("RANK")) throw tokens.unsupported(tokens.token.at, "ORDER BY RANK (order by a score)");
  const key = (): OrderKey => {
    const { at } = tokens.token;
    const expression = parseExpression(tokens);
    if (!anyInside(expression, ({ kind }) => kind === "reference"))
      throw tokens.error(at, "ORDER BY needs a property, such as c.created_at");
    const descending = tokens.takeKeyword("DESC");
    if (!descending) tokens.takeKeyword("ASC");
    return { expression, descending };
  };
  return tokens.list(key, sqlLimits.orderKeysMax, "values in ORDER BY");
}

function parseCount(tokens: TokenStream, clause: string): Count {
  const { kind, text } = tokens.token;
  if (kind === "parameter") {
    tokens.take();
    return { parameter: text };
  }
  if (kind !== "number" || !/^\d+$/.test(text) || Number(text) > sqlLimits.offsetMax)
    throw tokens.expected(`a whole number from 0 to ${sqlLimits.offsetMax} or a parameter after ${clause}`);
  tokens.take();
  return { value: Number(text) };
}

/**
 * SELECT VALUE … [FROM t IN c.items [JOIN …]] [WHERE …]: the subquery of EXISTS, ARRAY, JOIN and FROM. In FROM, its own FROM names the
 * document.
 */
export function parseSubquery(tokens: TokenStream, ofDocument = false): Subquery {
  return tokens.scoped(() => {
    const start = tokens.token.at;
    tokens.expectKeyword("SELECT");
    for (const word of ["DISTINCT", "TOP"])
      if (tokens.isKeyword(word)) throw tokens.unsupported(tokens.token.at, `${word} in a subquery`);
    if (!tokens.takeKeyword("VALUE"))
      throw tokens.unsupported(tokens.token.at, "a subquery without VALUE", "write SELECT VALUE …");
    const valueAt = tokens.mark();
    const hasFrom = skipToInnerFrom(tokens);
    const joins = hasFrom ? parseInnerFrom(tokens, ofDocument) : [];
    const fromEnd = tokens.mark();
    tokens.back(valueAt);
    const value = parseExpression(tokens);
    if (hasFrom) {
      if (!tokens.isKeyword("FROM")) throw tokens.expected("FROM");
      tokens.back(fromEnd);
    }
    const where = tokens.takeKeyword("WHERE") ? parseExpression(tokens) : undefined;
    for (const word of ["GROUP", "ORDER", "OFFSET"])
      if (tokens.isKeyword(word)) throw tokens.unsupported(tokens.token.at, `${word} in a subquery`);
    if ([value, ...(where === undefined ? [] : [where])].some((part) => anyInside(part, isAggregate)))
      throw tokens.unsupported(start, "an aggregate in a subquery", "use ARRAY_LENGTH(ARRAY(SELECT VALUE …)) to count");
    return { value, joins, where };
  });
}

function skipToInnerFrom(tokens: TokenStream): boolean {
  for (let open = 0; ; tokens.take()) {
    if (tokens.token.kind === "end") return false;
    if (["(", "[", "{"].some((symbol) => tokens.isSymbol(symbol))) open += 1;
    if ([")", "]", "}"].some((symbol) => tokens.isSymbol(symbol))) open -= 1;
    if (open < 0) return false;
    if (open === 0 && tokens.isKeyword("FROM") && !tokens.isSymbol(".", tokens.peek(-1))) return true;
  }
}

function parseInnerFrom(tokens: TokenStream, ofDocument: boolean): readonly Join[] {
  tokens.expectKeyword("FROM");
  const at = tokens.token.at;
  if (tokens.isSymbol("(")) throw tokens.unsupported(at, "a subquery in FROM");
  const alias = tokens.expectName("an alias");
  if (!tokens.takeKeyword("IN")) {
    if (!ofDocument) throw tokens.unsupported(at, "a subquery over anything but an array", "write FROM t IN c.items");
    const named = tokens.takeKeyword("AS") || tokens.isAlias();
    tokens.declareDocument(named ? tokens.expectName("an alias") : alias);
    return parseJoins(tokens, []);
  }
  const from = tokens.token.at;
  if (ofDocument && tokens.isName()) tokens.declareDocument(tokens.token.text);
  const source = pathFrom(tokens, tokens.expectName("the alias that contains the array"), from);
  return parseJoins(tokens, [{ alias, slot: tokens.declare(alias, at), source }]);
}
