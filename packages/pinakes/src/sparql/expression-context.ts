/** What an expression is evaluated with, and what it becomes. */
import type { TermText } from "../domain/rdf.ts";
import type { PatternNode, Row } from "./node.ts";

export interface Context {
  readonly row: Row;
  /** The row around an EXISTS: what its pattern does not bind is looked up here. */
  readonly outer: Row | undefined;
  /** The answers of the EXISTS of this expression, in their order: they are found before it is evaluated. */
  readonly exists: readonly boolean[];
  /** BNODE("label") is the same node in one row. */
  readonly blanks: Map<string, TermText>;
}

/** Undefined is an error, an unbound variable too: "?x < 1" is neither true nor false then. */
export type Evaluate = (context: Context) => TermText | undefined;

export interface CompiledExpression {
  readonly evaluate: Evaluate;
  /** Variables that it looks at, those inside EXISTS included. */
  readonly slots: ReadonlySet<number>;
  readonly exists: readonly PatternNode[];
}
