/** The part of the SPARQL algebra (SPARQL 1.1 Query, 18.2) that the parser emits and the compiler supports. */
export interface RdfTerm {
  readonly termType: string;
  readonly value: string;
  readonly language?: string;
  readonly datatype?: { readonly value: string };
}

export interface TriplePattern {
  readonly subject: RdfTerm;
  readonly predicate: RdfTerm;
  readonly object: RdfTerm;
  readonly graph: RdfTerm;
}

export type PathExpression =
  | { readonly type: "link"; readonly iri: RdfTerm }
  | { readonly type: "inv"; readonly path: PathExpression }
  | { readonly type: "seq"; readonly input: readonly PathExpression[] }
  | { readonly type: "alt"; readonly input: readonly PathExpression[] }
  | { readonly type: "nps"; readonly iris: readonly RdfTerm[] }
  | { readonly type: "ZeroOrMorePath" | "OneOrMorePath" | "ZeroOrOnePath"; readonly path: PathExpression };

export interface AggregateExpression {
  readonly type: "expression";
  readonly subType: "aggregate";
  readonly aggregator: string;
  readonly distinct: boolean;
  readonly separator?: string;
  readonly expression: Expression;
  readonly variable: RdfTerm;
}

export type Expression =
  | { readonly type: "expression"; readonly subType: "term"; readonly term: RdfTerm }
  | {
      readonly type: "expression";
      readonly subType: "operator";
      readonly operator: string;
      readonly args: readonly Expression[];
    }
  | {
      readonly type: "expression";
      readonly subType: "named";
      readonly name: RdfTerm;
      readonly args: readonly Expression[];
    }
  | { readonly type: "expression"; readonly subType: "existence"; readonly not: boolean; readonly input: Operation }
  | { readonly type: "expression"; readonly subType: "wildcard" }
  | AggregateExpression;

interface Single<T extends string> {
  readonly type: T;
  readonly input: Operation;
}

interface Several<T extends string> {
  readonly type: T;
  readonly input: readonly Operation[];
}

interface Pair<T extends string> {
  readonly type: T;
  readonly input: readonly [Operation, Operation];
}

export type Operation =
  | { readonly type: "bgp"; readonly patterns: readonly TriplePattern[] }
  | { readonly type: "path"; readonly subject: RdfTerm; readonly predicate: PathExpression; readonly object: RdfTerm }
  | {
      readonly type: "values";
      readonly variables: readonly RdfTerm[];
      readonly bindings: readonly Readonly<Record<string, RdfTerm>>[];
    }
  | Several<"join">
  | Several<"union">
  | (Pair<"leftjoin"> & { readonly expression?: Expression })
  | Pair<"minus">
  | (Single<"filter"> & { readonly expression: Expression })
  | (Single<"extend"> & { readonly variable: RdfTerm; readonly expression: Expression })
  | (Single<"graph"> & { readonly name: RdfTerm })
  | (Single<"group"> & { readonly variables: readonly RdfTerm[]; readonly aggregates: readonly AggregateExpression[] })
  | (Single<"project"> & { readonly variables: readonly RdfTerm[] })
  | (Single<"orderby"> & { readonly expressions: readonly Expression[] })
  | (Single<"slice"> & { readonly start: number; readonly length?: number })
  | Single<"distinct">
  | Single<"reduced">
  | (Single<"from"> & { readonly default: readonly RdfTerm[]; readonly named: readonly RdfTerm[] })
  | Single<"ask">
  | (Single<"construct"> & { readonly template: readonly TriplePattern[] })
  | (Single<"describe"> & { readonly terms: readonly RdfTerm[] })
  | (Single<"service"> & { readonly name: RdfTerm })
  | { readonly type: "nop" };

type GraphName = "DEFAULT" | RdfTerm;

export type UpdateOperation =
  | {
      readonly type: "change";
      readonly delete: readonly TriplePattern[];
      readonly insert: readonly TriplePattern[];
      readonly where: Operation | undefined;
      /** WITH: the graph that replaces the default graph unless another is named. */
      readonly with: RdfTerm | undefined;
      readonly using: { readonly default: readonly RdfTerm[]; readonly named: readonly RdfTerm[] } | undefined;
    }
  | { readonly type: "clear" | "drop"; readonly source: GraphName | "NAMED" | "ALL"; readonly silent: boolean }
  | { readonly type: "create"; readonly source: RdfTerm; readonly silent: boolean }
  | {
      readonly type: "add" | "move" | "copy";
      readonly source: GraphName;
      readonly destination: GraphName;
      readonly silent: boolean;
    };
