/**
 * The grammar of SPARQL 1.1, from @traqula, with corrections where it deviates from the specification:
 *
 * - a local name ends at its second ":" (`og:audio:title`), and keeps its escapes (`:a\-b`);
 * - decimals without a digit before the point (`.5`) are refused;
 * - a comment does not end at a carriage return;
 * - `\U0000FFFF` and code points beyond Unicode are turned into other characters;
 * - relative IRIs are resolved by appending them, and the empty prefix is treated as unknown;
 * - the counter of generated variables restarts after each subquery, and a generated name may collide with one in the text.
 *
 * The grammar is loaded with the first request, since building its tables takes a third of a second.
 */
import type { toAlgebra11Builder } from "@traqula/algebra-sparql-1-1";
import type { sparql11ParserBuilder } from "@traqula/parser-sparql-1-1";
import type { lex } from "@traqula/rules-sparql-1-1";
import { invalid } from "../domain/errors.ts";
import { resolveIri } from "./iri.ts";
import { syntaxError, type SyntaxProblem } from "./parse-errors.ts";

export interface Grammar {
  /** The input has no codepoint escapes. */
  parse(text: string): Ast;
  toAlgebra(ast: Ast, options: { readonly quads?: boolean; readonly baseIRI?: string | undefined }): unknown;
}

export interface Ast {
  readonly type: "query" | "update";
  readonly updates?: readonly { readonly context: readonly unknown[]; readonly operation?: AstUpdate }[];
  readonly context?: readonly unknown[];
  /** Of a SELECT or DESCRIBE query. */
  readonly variables?: readonly { readonly type: string }[];
}

export interface AstUpdate {
  readonly subType: string;
  readonly where?: { readonly patterns: readonly unknown[] };
}

let loading: Promise<Grammar> | undefined;

export async function loadGrammar(): Promise<Grammar> {
  loading ??= makeGrammar();
  return loading;
}

async function makeGrammar(): Promise<Grammar> {
  const [{ sparql11ParserBuilder: builder }, rules, algebra] = await Promise.all([
    import("@traqula/parser-sparql-1-1"),
    import("@traqula/rules-sparql-1-1"),
    import("@traqula/algebra-sparql-1-1"),
  ]);
  correctTokens(rules.lex);
  correctNames(builder, rules.lex);
  correctAlgebra(algebra.toAlgebra11Builder);
  let current = "";
  const built = builder.build({
    tokenVocabulary: rules.lex.sparql11LexerBuilder.tokenVocabulary,
    errorHandler: (problems): never => {
      throw syntaxError(current, problems[0] as SyntaxProblem);
    },
  });
  const parser = new rules.MinimalSparqlParser(built);
  return {
    parse: (text) => {
      current = text;
      return parser.parse(text);
    },
    toAlgebra: (ast, { quads, baseIRI }) =>
      algebra.toAlgebra(ast as unknown as Parameters<typeof algebra.toAlgebra>[0], {
        ...(quads === undefined ? {} : { quads }),
        ...(baseIRI === undefined ? {} : { baseIRI }),
      }),
  };
}

type Lexer = typeof lex;
type ParserBuilder = typeof sparql11ParserBuilder;
type AlgebraBuilder = typeof toAlgebra11Builder;

/** Lexer and rules share the token objects, so these are modified in place. */
function correctTokens({ terminals }: Lexer): void {
  terminals.decimal.PATTERN = /\d*\.\d+/;
  terminals.decimalPositive.PATTERN = /\+\d*\.\d+/;
  terminals.decimalNegative.PATTERN = /-\d*\.\d+/;
  terminals.comment.PATTERN = /#[^\n\r]*/;
}

function correctNames(builder: ParserBuilder, { terminals }: Lexer): void {
  builder.patchRule({
    name: "prefixedName",
    impl:
      ({ ACTION, CONSUME, OR }) =>
      (C) => {
        const named = (token: { readonly image: string }) =>
          ACTION(() => {
            const colon = token.image.indexOf(":");
            const prefix = token.image.slice(0, colon);
            if (C.prefixes[prefix] === undefined) throw new Error(`Unknown prefix: ${prefix}`);
            const local = token.image.slice(colon + 1).replaceAll(/\\(.)/g, "$1");
            return C.astFactory.termNamed(C.astFactory.sourceLocation(), local, prefix);
          });
        return OR([{ ALT: () => named(CONSUME(terminals.pNameLn)) }, { ALT: () => named(CONSUME(terminals.pNameNs)) }]);
      },
  });
}

function correctAlgebra(builder: AlgebraBuilder): void {
  // A name that cannot occur in any text; the counter is shared by all requests.
  let made = 0;
  builder.patchRule({ name: "generateFreshVar", fun: () => (c) => c.dataFactory.variable(`.${(made += 1)}`) });
  builder.patchRule({
    name: "translateNamed",
    fun: () => (c, term) => {
      const prefix = (term as { readonly prefix?: string }).prefix;
      const start =
        prefix === undefined ? "" : Object.hasOwn(c.currentPrefixes, prefix) ? c.currentPrefixes[prefix] : undefined;
      if (start === undefined) throw new Error(`Unknown prefix: ${prefix}`);
      const whole = resolveIri(start + term.value, c.currentBase);
      if (whole === undefined)
        throw new Error(
          `The IRI <${(start + term.value).slice(0, 200)}> is relative and there is no BASE; write it in full.`,
        );
      return c.dataFactory.namedNode(whole);
    },
  });
}

/** Codepoint escapes are decoded before anything else is parsed (SPARQL 1.1 Query, 19.2). */
export function withoutCodepointEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(
    /\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})/g,
    (escape: string, short?: string, long?: string) => {
      const code = Number.parseInt((short ?? long) as string, 16);
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        throw invalid(`SPARQL: ${escape} is not a Unicode character.`);
      return String.fromCodePoint(code);
    },
  );
}
