/**
 * Reads Turtle, TriG, N-Triples and N-Quads with n3. n3 parses its input synchronously, so the reader decides how much it passes at once;
 * n3 reports each token with its line before using it, so errors are raised while the line is known.
 */
import type { Token } from "n3";
import { invalid, type PinakesError } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import { checkText } from "../check-term.ts";
import { rdfLimits } from "../limits.ts";
import { problemAt } from "../problem.ts";
import { QuadSink } from "./quad-sink.ts";
import type { ReadContext } from "./read-context.ts";
import { type FactoryQuad, quadOf } from "./term-factory.ts";

const n3Formats = {
  turtle: "text/turtle",
  trig: "application/trig",
  ntriples: "application/n-triples",
  nquads: "application/n-quads",
} as const;
const opening: ReadonlySet<string> = new Set(["[", "(", "{"]);
const closing: ReadonlySet<string> = new Set(["]", ")", "}"]);
/** RDF 1.2: triple terms, and annotations. */
const tripleTerms: ReadonlySet<string> = new Set(["<<", "<<(", "{|", "~"]);

export async function* readTurtle(
  texts: AsyncIterable<string>,
  format: keyof typeof n3Formats,
  context: ReadContext,
): AsyncGenerator<readonly Quad[], void, void> {
  const { Parser } = await import("n3");
  const sink = new QuadSink();
  const place = new ParserPosition(format === "ntriples" || format === "nquads", context);
  const parser = new Parser({
    format: n3Formats[format],
    blankNodePrefix: "",
    factory: context.factory,
    ...(context.baseIri === undefined ? {} : { baseIRI: context.baseIri }),
  });
  const listeners = new Map<string, (text: string) => void>();
  parser.parse(
    { on: (event, listener) => void listeners.set(event, listener) },
    {
      onToken: (token) => place.reach(token),
      onPrefix: () => place.prefix(),
      onQuad(error, quad) {
        if (error !== null) throw problemAt(format, place.lineOf(error.context?.line), withoutLine(error.message));
        if (quad !== null && quad !== undefined) sink.add(quadOf(quad as FactoryQuad));
      },
    },
  );
  const give = (event: "data" | "end", text: string): PinakesError | undefined => {
    try {
      sink.reading(text.length);
      listeners.get(event)?.(text);
      if (event === "data") place.read(text);
      return undefined;
    } catch (error) {
      return problemAt(format, place.lineOf(undefined), error);
    }
  };
  // Quads before an error are yielded before it is thrown.
  for await (const text of texts) {
    const problem = give("data", text);
    yield* sink.take();
    if (problem !== undefined) throw problem;
  }
  const problem = give("end", "");
  yield* sink.take();
  if (problem !== undefined) throw problem;
}

/** Position of the parser, and its limits. */
class ParserPosition {
  private line = 1;
  private depth = 0;
  private prefixes = 0;
  private pending = 0;
  /** First line of the current statement; undefined between statements. */
  private statement: number | undefined;
  private readonly byLine: boolean;
  private readonly context: ReadContext;

  constructor(byLine: boolean, context: ReadContext) {
    this.byLine = byLine;
    this.context = context;
  }

  reach(token: Token): void {
    this.line = token.line;
    this.pending = 0;
    if (this.byLine) this.reachInLine(token);
    if (tripleTerms.has(token.type))
      throw invalid("A triple inside a triple (RDF 1.2) cannot be stored; state it as triples of its own.");
    if (token.type === "literal") checkText("literal", token.value, this.context.termBytesMax);
    if (opening.has(token.type) && ++this.depth > this.context.nestingLevelsMax) {
      throw invalid(`More than ${this.context.nestingLevelsMax} levels are nested here; label the nodes instead.`);
    }
    if (closing.has(token.type)) this.depth--;
  }

  /** N-Triples and N-Quads have one statement per line; an incomplete line is reported, not the line after it. */
  private reachInLine(token: Token): void {
    if (this.statement !== undefined && token.line !== this.statement)
      throw invalid(`The statement does not end with "." in its line.`);
    this.statement = token.type === "." || token.type === "eof" ? undefined : token.line;
  }

  prefix(): void {
    if (++this.prefixes > rdfLimits.prefixesMax)
      throw invalid(`There are more than ${rdfLimits.prefixesMax} prefixes; write IRIs in full.`);
  }

  /** After each piece: text that has not become a token is buffered by the parser, which rescans it each time it has doubled. */
  read(text: string): void {
    if (text.trim() !== "") this.pending += text.length;
    if (this.pending > 2 * rdfLimits.tokenCharsMax + rdfLimits.sliceBytesMax) {
      throw invalid(
        `Something here does not end within ${rdfLimits.tokenCharsMax} characters: a quote or ">" may be missing, or a term is too long.`,
      );
    }
  }

  lineOf(known: number | undefined): number {
    return this.statement ?? known ?? this.line;
  }
}

function withoutLine(message: string): string {
  return message.replace(/ on line \d+\.$/, ".");
}
