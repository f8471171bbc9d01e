/** The inputs and outputs of compiled expressions. */
import type { TermText } from "../domain/rdf.ts";
import type { PatternNode, Row } from "./node.ts";

export interface Context {
  readonly row: Row;
  /** The row around an EXISTS: variables that its pattern does not bind are read from it. */
  readonly outer: Row | undefined;
  /** Results of the EXISTS patterns of this expression, in order; they are computed before it is evaluated. */
  readonly exists: readonly boolean[];
  /** BNODE("label") returns the same node throughout a row. */
  readonly blanks: Map<string, TermText>;
}

/** Undefined is an error. So is an unbound variable: "?x < 1" is then neither true nor false. */
export type Evaluate = (context: Context) => TermText | undefined;

export interface CompiledExpression {
  readonly evaluate: Evaluate;
  /** Variables that it reads, including those inside EXISTS. */
  readonly slots: ReadonlySet<number>;
  readonly exists: readonly PatternNode[];
}
