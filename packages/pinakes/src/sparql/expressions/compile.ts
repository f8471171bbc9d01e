/**
 * Compiles expressions to functions of a row. Operators that need more than the values of their arguments are here; all others are
 * functions.
 */
import { PinakesError } from "../../domain/errors.ts";
import type { TermText } from "../../domain/rdf.ts";
import type { Expression, Operation, RdfTerm } from "../algebra.ts";
import type { PatternNode } from "../node.ts";
import { textOfTerm, type Variables } from "../variables.ts";
import { castOf } from "./casts.ts";
import { compareTerms, effectiveBoolean, equalTerms } from "./compare.ts";
import type { CompiledExpression, Context, Evaluate } from "../expression-context.ts";
import { functions, newBlank, truth, type RequestFacts } from "./functions.ts";
import { calculate, negate, numericOf, numericText, type Arithmetic } from "./numbers.ts";
import { plainOf } from "./strings.ts";

export interface ExpressionScope {
  readonly variables: Variables;
  readonly facts: RequestFacts;
  /** Compiles the pattern of an EXISTS. */
  readonly compilePattern: (operation: Operation) => PatternNode;
}

export function compileExpression(expression: Expression, scope: ExpressionScope): CompiledExpression {
  const compiler = new ExpressionCompiler(scope);
  const evaluate = compiler.compile(expression);
  return { evaluate, slots: compiler.slots, exists: compiler.exists };
}

class ExpressionCompiler {
  readonly slots = new Set<number>();
  readonly exists: PatternNode[] = [];
  readonly #scope: ExpressionScope;

  constructor(scope: ExpressionScope) {
    this.#scope = scope;
  }

  compile(expression: Expression): Evaluate {
    switch (expression.subType) {
      case "term":
        return this.#term(expression.term);
      case "operator":
        return this.#operator(expression.operator.toLowerCase(), expression.args);
      case "named":
        return this.#named(expression.name.value, expression.args);
      case "existence":
        return this.#existence(expression.input, expression.not);
      default:
        throw unsupported(`an expression of type "${expression.subType}" here`);
    }
  }

  #term(term: RdfTerm): Evaluate {
    if (term.termType !== "Variable") {
      const text = textOfTerm(term);
      return () => text;
    }
    const slot = this.#slot(term);
    return ({ row, outer }) => row[slot] ?? outer?.[slot];
  }

  #slot(term: RdfTerm): number {
    const slot = this.#scope.variables.slotOf(term);
    this.slots.add(slot);
    return slot;
  }

  #existence(input: Operation, negated: boolean): Evaluate {
    const node = this.#scope.compilePattern(input);
    const at = this.exists.push(node) - 1;
    for (const slot of node.mentioned) this.slots.add(slot);
    return ({ exists }) => truth(exists[at] !== negated);
  }

  /** An unknown function, or one with the wrong number of arguments, is an error of this expression only; the query continues (17.6). */
  #named(iri: string, args: readonly Expression[]): Evaluate {
    const cast = castOf(iri);
    const [inner, ...more] = args.map((arg) => this.compile(arg));
    if (cast === undefined || inner === undefined || more.length > 0) return () => undefined;
    return (context) => {
      const value = inner(context);
      return value === undefined ? undefined : cast(value);
    };
  }

  #operator(name: string, args: readonly Expression[]): Evaluate {
    if (name === "bound") return this.#bound(args[0] as Expression);
    const inner = args.map((arg) => this.compile(arg));
    const [a, b, c] = inner as [Evaluate, Evaluate, Evaluate];
    switch (name) {
      case "&&":
        return (context) => truth(and(effectiveBoolean(a(context)), () => effectiveBoolean(b(context))));
      case "||":
        return (context) => truth(or(effectiveBoolean(a(context)), () => effectiveBoolean(b(context))));
      case "!":
        return (context) => truth(not(effectiveBoolean(a(context))));
      case "if":
        return (context) => {
          const condition = effectiveBoolean(a(context));
          return condition === undefined ? undefined : condition ? b(context) : c(context);
        };
      case "coalesce":
        return (context) => firstOf(inner, context);
      case "in":
        return (context) => truth(among(inner, context));
      case "notin":
        return (context) => truth(not(among(inner, context)));
      case "bnode":
        return this.#blank(inner[0]);
      default:
        return comparison(name, a, b) ?? arithmetic(name, a, b) ?? this.#function(name, inner);
    }
  }

  #bound(arg: Expression): Evaluate {
    if (arg.subType !== "term" || arg.term.termType !== "Variable")
      throw unsupported("BOUND of anything but a variable");
    const slot = this.#slot(arg.term);
    return ({ row, outer }) => truth((row[slot] ?? outer?.[slot]) !== undefined);
  }

  #blank(label: Evaluate | undefined): Evaluate {
    const { facts } = this.#scope;
    if (label === undefined) return () => newBlank(facts);
    return (context) => {
      const text = label(context);
      const name = text === undefined ? undefined : plainOf(text);
      if (name === undefined) return undefined;
      const known = context.blanks.get(name) ?? newBlank(facts);
      context.blanks.set(name, known);
      return known;
    };
  }

  #function(name: string, args: readonly Evaluate[]): Evaluate {
    const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (known === undefined) throw unsupported(`the function ${name.toUpperCase()}`);
    if (args.length < known.min || args.length > known.max)
      throw unsupported(`the function ${name.toUpperCase()} with ${args.length} arguments`);
    const { facts } = this.#scope;
    return (context) => {
      const values: TermText[] = [];
      for (const arg of args) {
        const value = arg(context);
        if (value === undefined) return undefined;
        values.push(value);
      }
      return known.apply(values, facts);
    };
  }
}

function unsupported(what: string): PinakesError {
  return new PinakesError("NOT_SUPPORTED", `SPARQL: ${what} is not supported.`);
}

/** False wins over an error. */
function and(a: boolean | undefined, b: () => boolean | undefined): boolean | undefined {
  if (a === false) return false;
  const other = b();
  return other === false ? false : a === undefined || other === undefined ? undefined : true;
}

/** True wins over an error. */
function or(a: boolean | undefined, b: () => boolean | undefined): boolean | undefined {
  if (a === true) return true;
  const other = b();
  return other === true ? true : a === undefined || other === undefined ? undefined : false;
}

function not(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

function firstOf(args: readonly Evaluate[], context: Context): TermText | undefined {
  for (const arg of args) {
    const value = arg(context);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Evaluated as `a = b || a = c || …`. */
function among([first, ...rest]: readonly Evaluate[], context: Context): boolean | undefined {
  const value = first?.(context);
  let failed = value === undefined;
  for (const arg of rest) {
    const other = arg(context);
    const equal = value === undefined || other === undefined ? undefined : equalTerms(value, other);
    if (equal === true) return true;
    if (equal === undefined) failed = true;
  }
  return failed && rest.length > 0 ? undefined : false;
}

const tests: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  ">": (order) => order > 0,
  "<=": (order) => order <= 0,
  ">=": (order) => order >= 0,
};

function comparison(name: string, a: Evaluate, b: Evaluate): Evaluate | undefined {
  if (name === "=" || name === "!=") {
    return (context) => {
      const [x, y] = [a(context), b(context)];
      const equal = x === undefined || y === undefined ? undefined : equalTerms(x, y);
      return truth(name === "=" ? equal : not(equal));
    };
  }
  const test = Object.hasOwn(tests, name) ? tests[name] : undefined;
  if (test === undefined) return undefined;
  return (context) => {
    const [x, y] = [a(context), b(context)];
    const order = x === undefined || y === undefined ? undefined : compareTerms(x, y);
    return order === undefined ? undefined : truth(order !== "none" && test(order));
  };
}

function arithmetic(name: string, a: Evaluate, b: Evaluate): Evaluate | undefined {
  if (name === "uplus" || name === "uminus") {
    return (context) => {
      const text = a(context);
      const value = text === undefined ? undefined : numericOf(text);
      return value === undefined ? undefined : numericText(name === "uminus" ? negate(value) : value);
    };
  }
  if (name !== "+" && name !== "-" && name !== "*" && name !== "/") return undefined;
  return (context) => {
    const [x, y] = [a(context), b(context)];
    return x === undefined || y === undefined ? undefined : sumOf(name, x, y);
  };
}

function sumOf(operator: Arithmetic, x: TermText, y: TermText): TermText | undefined {
  const [left, right] = [numericOf(x), numericOf(y)];
  const value = left === undefined || right === undefined ? undefined : calculate(operator, left, right);
  return value === undefined ? undefined : numericText(value);
}
