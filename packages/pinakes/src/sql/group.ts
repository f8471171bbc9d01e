/** GROUP BY, aggregates and DISTINCT: every row is read and added to its group. */
import { compareUtf8, type JsonObject, type JsonValue } from "../domain/json.ts";
import { shortHash } from "../runtime/tokens.ts";
import { accumulator, type Accumulator } from "./expressions/aggregate.ts";
import { childrenOf, type Expression, type Query } from "./ast.ts";
import { KeptChars, openSort, readAll, sealSort, take } from "./collect.ts";
import { compileExpression, type EvaluationContext, type Evaluator } from "./expressions/evaluate.ts";
import { expressionKey } from "./parse/grouping-rules.ts";
import type { Reading } from "./leg-reader.ts";
import { projection, type RowMaker } from "./rows.ts";
import { canonical, compareByType, placeOf, type Value } from "./expressions/values.ts";
import type { Window } from "./window.ts";

interface Answer {
  readonly value: JsonValue;
  readonly sort: readonly Value[];
  /** Distinguishes results with the same sort position. */
  readonly key: string;
}

/** Longer values are represented by a prefix and a hash, so that a cursor stays small. */
const keyCharsMax = 200;

function keyOf(text: string): string {
  return text.length <= keyCharsMax ? text : `${text.slice(0, keyCharsMax)}~${shortHash(text)}`;
}

/** Sort position of a value without ORDER BY: by type, numbers by size, all others by their key. */
function rankOf(value: Value): Value {
  return typeof value === "string" ? "" : placeOf(value);
}

export interface GroupInput {
  readonly query: Query;
  readonly context: EvaluationContext;
  readonly reading: Reading;
  readonly maker: RowMaker;
  readonly rowsMax: number;
}

/** Returns the position to continue from: after the last result, in the order of types and then of keys. */
export async function grouped(
  input: GroupInput,
  window: Window,
  state: JsonObject | undefined,
): Promise<JsonObject | undefined> {
  const { query, maker } = input;
  const answers = query.aggregates || query.groupBy.length > 0 ? await groups(input) : await distinct(input);
  const unique = query.distinct
    ? [...new Map(answers.toReversed().map((answer) => [canonical(answer.value), answer])).values()]
    : answers;
  const inOrder =
    query.orderBy.length > 0 ? (a: readonly Value[], b: readonly Value[]) => maker.compareSort(a, b) : byType;
  const compare = (a: Pick<Answer, "sort" | "key">, b: Pick<Answer, "sort" | "key">) =>
    inOrder(a.sort, b.sort) || compareUtf8(a.key, b.key);
  const after = state === undefined ? undefined : openAnswer(state);
  const rest = unique.filter((answer) => after === undefined || compare(answer, after) > 0).toSorted(compare);
  return take(rest, window, ({ sort, key }) => ({ key, sort: sealSort(sort) }));
}

function openAnswer(state: JsonObject): Pick<Answer, "sort" | "key"> {
  return { key: state["key"] as string, sort: openSort(state) };
}

function byType(a: readonly Value[], b: readonly Value[]): number {
  for (const [i, value] of a.entries()) {
    const order = compareByType(value, b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

async function distinct({ query, reading, maker, rowsMax }: GroupInput): Promise<Answer[]> {
  const found = new Map<string, Answer>();
  const chars = new KeptChars(reading.memory);
  await readAll(reading, rowsMax, (item) => {
    for (const row of maker.rows(maker.document(item))) {
      const value = maker.project(row);
      if (value === undefined) continue;
      const text = canonical(value);
      const key = keyOf(text);
      if (found.has(key)) continue;
      found.set(key, { value, key, sort: query.orderBy.length > 0 ? maker.sortValues(row) : [rankOf(value)] });
      chars.add(text.length);
    }
    chars.require();
  });
  return [...found.values()];
}

interface Group {
  /** Values of GROUP BY. */
  readonly values: readonly Value[];
  readonly key: string;
  readonly totals: readonly Accumulator[];
}

async function groups({ query, context, reading, maker, rowsMax }: GroupInput): Promise<Answer[]> {
  const aggregates = aggregatesOf(query);
  const inputs = aggregates.map(({ argument }) => compileExpression(argument, context));
  const keys = query.groupBy.map((expression) => compileExpression(expression, context));
  const found = new Map<string, Group>();
  const chars = new KeptChars(reading.memory);
  const open = (values: readonly Value[], text: string): Group => {
    const group = { values, key: keyOf(text), totals: aggregates.map(({ name }) => accumulator(name)) };
    found.set(group.key, group);
    chars.add(text.length);
    return group;
  };
  // Without GROUP BY all rows are one group, which exists even without rows.
  if (keys.length === 0) open([], "");
  await readAll(reading, rowsMax, (item) => {
    for (const row of maker.rows(maker.document(item))) {
      const values = keys.map((key) => key(row));
      const text = values.map(canonical).join("\u0001");
      const group = found.get(keyOf(text)) ?? open(values, text);
      for (const [i, total] of group.totals.entries()) chars.add(total.add((inputs[i] as Evaluator)(row)) ?? 0);
    }
    chars.require();
  });
  const show = shownGroup(query, aggregates, context);
  return [...found.values()].flatMap((group) => {
    const value = show(group);
    return value === undefined ? [] : [{ value, sort: group.values.map(rankOf), key: group.key }];
  });
}

/** SELECT for a group, which has no document: only its aggregates and the values of GROUP BY. */
function shownGroup(
  query: Query,
  aggregates: readonly { readonly id: string }[],
  context: EvaluationContext,
): (group: Group) => Value {
  let current: Group | undefined;
  const keys = query.groupBy.map(expressionKey);
  const known = (expression: Expression): Evaluator | undefined => {
    const id = expressionKey(expression);
    if (expression.kind === "aggregate") {
      const place = aggregates.findIndex((aggregate) => aggregate.id === id);
      return () => current?.totals[place]?.result();
    }
    const place = keys.indexOf(id);
    return place < 0 ? undefined : () => current?.values[place];
  };
  const project = projection(query, { ...context, known });
  return (group) => {
    current = group;
    return project([]);
  };
}

/** The distinct aggregates of SELECT. */
export function aggregatesOf({ select }: Query) {
  const found = new Map<string, Extract<Expression, { kind: "aggregate" }>>();
  const visit = (expression: Expression): void => {
    if (expression.kind === "aggregate") found.set(expressionKey(expression), expression);
    else for (const child of childrenOf(expression)) visit(child);
  };
  if (select.kind === "value") visit(select.expression);
  if (select.kind === "list") for (const { expression } of select.items) visit(expression);
  return [...found].map(([id, { name, argument }]) => ({ id, name, argument }));
}
