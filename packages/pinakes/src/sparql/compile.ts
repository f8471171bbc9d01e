/** Compiles the algebra to nodes that produce rows. Unsupported operations are rejected by name: a wrong answer is worse than none. */
import { invalid, PinakesError } from "../domain/errors.ts";
import type { Expression, Operation, RdfTerm } from "./algebra.ts";
import { compileExpression, type ExpressionScope } from "./expressions/compile.ts";
import type { CompiledExpression } from "./expression-context.ts";
import type { RequestFacts } from "./expressions/functions.ts";
import { sparqlLimits } from "./limits.ts";
import { extendNode } from "./nodes/extend.ts";
import { filterNode } from "./nodes/filter.ts";
import { graphNode } from "./nodes/graph.ts";
import { groupNode } from "./nodes/group.ts";
import { joinNode } from "./nodes/join.ts";
import { leftJoinNode } from "./nodes/left-join.ts";
import { minusNode } from "./nodes/minus.ts";
import { distinctNode, projectNode, sliceNode } from "./nodes/modifiers.ts";
import type { PatternNode } from "./node.ts";
import { orderNode } from "./nodes/order.ts";
import { pathNode } from "./nodes/path.ts";
import { patternNode, placeOf } from "./nodes/pattern.ts";
import { unionNode } from "./nodes/union.ts";
import { valuesNode } from "./nodes/values.ts";
import type { Variables } from "./variables.ts";

/** Up to this LIMIT a sort keeps only the rows it will return; above it, it keeps all. */
const topRowsMax = 10_000;

export function compilePattern(operation: Operation, variables: Variables, facts: RequestFacts): PatternNode {
  return new Compiler(variables, facts).compile(operation);
}

class Compiler {
  readonly #variables: Variables;
  readonly #scope: ExpressionScope;

  constructor(variables: Variables, facts: RequestFacts) {
    this.#variables = variables;
    this.#scope = { variables, facts, compilePattern: (operation) => this.compile(operation) };
  }

  compile(operation: Operation): PatternNode {
    switch (operation.type) {
      case "bgp":
      case "path":
      case "join":
        return joinNode(checkParts(this.#flat(operation)));
      case "union":
        return unionNode(operation.input.map((branch) => this.compile(branch)));
      case "leftjoin": {
        const { input, expression } = operation;
        return leftJoinNode(
          this.compile(input[0]),
          this.compile(input[1]),
          expression === undefined ? undefined : this.#expression(expression),
        );
      }
      case "minus":
        return minusNode(this.compile(operation.input[0]), this.compile(operation.input[1]));
      case "filter":
        return conditionsOf(operation.expression).reduce(
          (node, condition) => this.#filter(node, condition),
          this.compile(operation.input),
        );
      case "extend":
        return this.#extend(operation);
      case "values":
        return valuesNode(operation.variables, operation.bindings, this.#variables);
      case "graph":
        return this.#graph(operation);
      case "group":
        return this.#group(operation);
      default:
        return this.#modifier(operation);
    }
  }

  #modifier(operation: Operation): PatternNode {
    switch (operation.type) {
      case "project":
        return this.#project(operation, undefined);
      case "orderby":
        return this.#order(operation, undefined);
      case "distinct":
        return distinctNode(this.compile(operation.input));
      case "reduced":
        return this.compile(operation.input);
      case "slice":
        return this.#slice(operation);
      case "service":
        throw new PinakesError(
          "NOT_SUPPORTED",
          `SPARQL: SERVICE is disabled: this server does not query other endpoints (here <${operation.name.value}>). Query that endpoint yourself and pass its rows with VALUES.`,
        );
      default:
        throw new PinakesError("NOT_SUPPORTED", `SPARQL: the operation "${operation.type}" is not supported here.`);
    }
  }

  /** Flattens joins of joins: all parts must agree, in any order. */
  #flat(operation: Operation): PatternNode[] {
    if (operation.type === "bgp")
      return operation.patterns.map((pattern) => patternNode(pattern, undefined, this.#variables));
    if (operation.type === "path")
      return [pathNode(operation.subject, operation.predicate, operation.object, this.#variables)];
    return operation.type === "join" ? operation.input.flatMap((part) => this.#flat(part)) : [this.compile(operation)];
  }

  /** A basic graph pattern under GRAPH is matched in all graphs at once; anything else, graph by graph. */
  #graph({ name, input }: Extract<Operation, { type: "graph" }>): PatternNode {
    if (name.termType === "Variable" && input.type === "bgp" && input.patterns.length > 0)
      return joinNode(checkParts(input.patterns.map((pattern) => patternNode(pattern, name, this.#variables))));
    return graphNode(this.compile(input), placeOf(name, this.#variables));
  }

  /** `?x = <iri>` is equivalent to VALUES for ?x if every row binds it, and VALUES is a single index lookup. */
  #filter(child: PatternNode, condition: Expression): PatternNode {
    const fixed = fixedBy(condition);
    const node =
      fixed !== undefined && child.pushable.has(this.#slot(fixed.variable))
        ? joinNode([valuesNode([fixed.variable], [{ [fixed.variable.value]: fixed.term }], this.#variables), child])
        : child;
    return filterNode(node, this.#expression(condition));
  }

  #extend({ input, variable, expression }: Extract<Operation, { type: "extend" }>): PatternNode {
    const child = this.compile(input);
    const slot = this.#slot(variable);
    if (child.possible.has(slot))
      throw invalid(
        `SPARQL: ?${variable.value} is already bound, so BIND or SELECT (… AS ?${variable.value}) cannot rebind it; use a new name.`,
      );
    return extendNode(child, { slot, expression: this.#expression(expression) });
  }

  #group({ input, variables, aggregates }: Extract<Operation, { type: "group" }>): PatternNode {
    const columns = aggregates.map(({ variable, aggregator, distinct, separator, expression }) => {
      if (expression.subType === "wildcard" && aggregator !== "count")
        throw new PinakesError(
          "NOT_SUPPORTED",
          `SPARQL: ${aggregator.toUpperCase()}(*) is not supported; only COUNT(*) is.`,
        );
      return {
        slot: this.#slot(variable),
        aggregator,
        distinct,
        separator,
        expression: expression.subType === "wildcard" ? undefined : this.#expression(expression),
      };
    });
    return groupNode(
      this.compile(input),
      variables.map((variable) => this.#slot(variable)),
      columns,
    );
  }

  #slice({ input, start, length }: Extract<Operation, { type: "slice" }>): PatternNode {
    const rows = length === undefined ? Infinity : start + length;
    const first = rows <= topRowsMax ? rows : undefined;
    if (input.type === "project") return sliceNode(this.#project(input, first), start, length);
    return sliceNode(input.type === "orderby" ? this.#order(input, first) : this.compile(input), start, length);
  }

  #project({ input, variables }: Extract<Operation, { type: "project" }>, first: number | undefined): PatternNode {
    checkGrouping(input, variables);
    const child = input.type === "orderby" ? this.#order(input, first) : this.compile(input);
    return projectNode(
      child,
      variables.map((variable) => this.#slot(variable)),
    );
  }

  #order({ input, expressions }: Extract<Operation, { type: "orderby" }>, first: number | undefined): PatternNode {
    const keys = expressions.map((expression) => {
      const descending = expression.subType === "operator" && expression.operator === "desc";
      return { descending, expression: this.#expression(descending ? (expression.args[0] as Expression) : expression) };
    });
    return orderNode(this.compile(input), keys, first);
  }

  #slot(term: RdfTerm): number {
    return this.#variables.slotOf(term);
  }

  #expression(expression: Expression): CompiledExpression {
    return compileExpression(expression, this.#scope);
  }
}

/** Conjuncts: a row passes them one by one exactly if it passes them joined by `&&`. */
function conditionsOf(expression: Expression): readonly Expression[] {
  return expression.subType === "operator" && expression.operator === "&&"
    ? expression.args.flatMap(conditionsOf)
    : [expression];
}

function checkParts(parts: readonly PatternNode[]): readonly PatternNode[] {
  if (parts.length > sparqlLimits.joinPartsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `SPARQL: a group joins ${parts.length} patterns; at most ${sparqlLimits.joinPartsMax} are allowed (joinPartsMax).`,
    );
  return parts;
}

/** IRIs are equal if their text is; for literals only sameTerm compares this way. */
function fixedBy(condition: Expression): { readonly variable: RdfTerm; readonly term: RdfTerm } | undefined {
  if (condition.subType !== "operator" || (condition.operator !== "=" && condition.operator !== "sameterm"))
    return undefined;
  const terms = condition.args.map((arg) => (arg.subType === "term" ? arg.term : undefined));
  const variable = terms.find((term) => term?.termType === "Variable");
  const term = terms.find(
    (one) => one?.termType === "NamedNode" || (one?.termType === "Literal" && condition.operator === "sameterm"),
  );
  return variable === undefined || term === undefined ? undefined : { variable, term };
}

/** A grouped query returns one row per group, so each selected expression must be constant within a group (19.8, note 12). */
function checkGrouping(input: Operation, selected: readonly RdfTerm[]): void {
  const assigned: { readonly variable: RdfTerm; readonly expression: Expression }[] = [];
  let inner = input;
  for (;;) {
    if (inner.type === "extend") assigned.unshift(inner);
    if (inner.type === "group") break;
    if (inner.type === "extend" || inner.type === "orderby" || inner.type === "filter") inner = inner.input;
    // VALUES after the query is joined between grouping and projection.
    else if (inner.type === "join" && inner.input.at(-1)?.type === "values") inner = inner.input[0] as Operation;
    else return;
  }
  const allowed = new Set(
    [...inner.variables, ...inner.aggregates.map(({ variable }) => variable)].map(({ value }) => value),
  );
  const check = (name: string): void => {
    if (!allowed.has(name))
      throw invalid(
        `SPARQL: ?${name} is selected, but it is neither in GROUP BY nor inside an aggregate; use SAMPLE(?${name}) to take any of its values.`,
      );
  };
  for (const { variable, expression } of assigned) {
    for (const name of variablesOf(expression)) check(name);
    allowed.add(variable.value);
  }
  for (const { value } of selected) check(value);
}

function variablesOf(expression: Expression): readonly string[] {
  if (expression.subType === "term") return expression.term.termType === "Variable" ? [expression.term.value] : [];
  return expression.subType === "operator" || expression.subType === "named"
    ? expression.args.flatMap(variablesOf)
    : [];
}
