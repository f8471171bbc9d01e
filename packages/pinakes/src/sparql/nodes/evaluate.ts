/** Evaluates an expression for a row. Its EXISTS patterns are evaluated first, since they read the source. */
import type { TermText } from "../../domain/rdf.ts";
import { effectiveBoolean } from "../expressions/compare.ts";
import type { CompiledExpression } from "../expression-context.ts";
import { emptyRow, type Environment, type PatternNode, type Row } from "../node.ts";

const noAnswers: readonly boolean[] = [];

/** Asynchronous only if the expression contains EXISTS. */
export function evaluateFor(
  environment: Environment,
  { evaluate, exists }: CompiledExpression,
  row: Row,
  blanks: Map<string, TermText>,
): TermText | undefined | Promise<TermText | undefined> {
  const { outer } = environment;
  if (exists.length === 0) return evaluate({ row, outer, exists: noAnswers, blanks });
  return existsFor(environment, exists, row).then((answers) => evaluate({ row, outer, exists: answers, blanks }));
}

async function existsFor(
  environment: Environment,
  nodes: readonly PatternNode[],
  row: Row,
): Promise<readonly boolean[]> {
  const around = environment.outer === undefined ? row : row.map((value, slot) => value ?? environment.outer?.[slot]);
  const inside = { ...environment, outer: around };
  const answers: boolean[] = [];
  for (const node of nodes) answers.push(await hasRows(inside, node));
  return answers;
}

export async function hasRows(environment: Environment, node: PatternNode): Promise<boolean> {
  for await (const lot of node.run(environment, emptyRow(environment))) if (lot.length > 0) return true;
  return false;
}

/** The rows for which all conditions are true, that is, neither false nor an error. */
export async function rowsThat(
  environment: Environment,
  filters: readonly CompiledExpression[],
  rows: readonly Row[],
): Promise<readonly Row[]> {
  let kept = rows;
  for (const filter of filters) {
    const passed: Row[] = [];
    for (const row of kept) {
      const result = evaluateFor(environment, filter, row, new Map());
      if (effectiveBoolean(result instanceof Promise ? await result : result) === true) passed.push(row);
      if (environment.budget.spend()) await environment.budget.pause();
    }
    kept = passed;
  }
  return kept;
}
