/** Parses one JSON-LD document in memory, with jsonld-streaming-parser. */
import type { JsonLdParser } from "jsonld-streaming-parser";
import { invalid } from "../../domain/errors.ts";
import { newlines } from "./decode-utf8.ts";
import { blankLabels } from "../blank-labels.ts";
import { rdfLimits } from "../limits.ts";
import { QuadSink, tooLong } from "./quad-sink.ts";
import type { ReadContext } from "./read-context.ts";
import { type FactoryQuad, quadOf, type TermFactory, termFactory } from "./term-factory.ts";

/** Pieces of text that form a document when joined, each with its first line; 0 for text that we added. */
export interface Piece {
  readonly text: string;
  readonly line: number;
}

/** Uses the parser's streaming mode, which accepts nearly every document; one with a late context is parsed again in the other mode. */
export async function parseJsonld(pieces: readonly Piece[], sink: QuadSink, context: ReadContext): Promise<void> {
  const text = pieces.map((piece) => piece.text).join("");
  const { size } = sink;
  sink.reading(text.length);
  try {
    const give = await open(sink, context, true);
    await give(text);
  } catch (error) {
    // A key without an IRI may get one from a context that follows.
    if (!text.includes('"@context"')) throw error;
    if (text.length > rdfLimits.jsonldUnorderedCharsMax) throw isAboutOrder(error) ? lateContext(error) : error;
    sink.undo(size);
    sink.reading(text.length);
    const give = await open(sink, context, false);
    await give(text);
  }
}

function lateContext(cause: unknown): Error {
  return invalid(
    `A "@context" here, or a "@type" that has a context of its own, follows other keys. Put it first; in a document of this size it must come before them.`,
    { cause },
  );
}

function isAboutOrder(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "invalid streaming key order";
}

/**
 * Finds the line of an error. The parser does not report it, but in streaming mode it fails as soon as it has read the error: so the
 * document is parsed again, line by line. If it does not fail in the same way, the line is that of the first piece.
 */
export async function locateProblem(pieces: readonly Piece[], problem: unknown, context: ReadContext): Promise<number> {
  const factory = termFactory(blankLabels("again"), context.termBytesMax);
  const again = new QuadSink();
  again.reading(pieces.reduce((sum, piece) => sum + piece.text.length, 0));
  const give = await open(again, { ...context, factory }, true);
  let line = 1;
  try {
    for (const piece of pieces) {
      if (piece.line > 0) line = piece.line;
      for (const text of piece.text.split(/(?<=\n)/)) {
        await give(text);
        line += newlines(text);
      }
    }
  } catch (error) {
    if (wordsOf(error) === wordsOf(problem)) return line;
  }
  return pieces.find((piece) => piece.line > 0)?.line ?? 1;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Give = (text: string) => Promise<void>;

async function open(sink: QuadSink, context: ReadContext, streamingProfile: boolean): Promise<Give> {
  const { JsonLdParser } = await import("jsonld-streaming-parser");
  const meter = metered(context.factory);
  const parser = new JsonLdParser({
    dataFactory: meter.factory as unknown as NonNullable<
      NonNullable<ConstructorParameters<typeof JsonLdParser>[0]>["dataFactory"]
    >,
    documentLoader: { load: refuseRemote },
    strictValues: true,
    rdfstar: false,
    rdfDirection: "i18n-datatype",
    streamingProfile,
    streamingProfileAllowOutOfOrderPlainType: true,
    ...(context.baseIri === undefined ? {} : { baseIRI: context.baseIri }),
  });
  let failure: Error | undefined;
  parser.on("error", (error: Error) => {
    failure ??= error;
  });
  parser.push = (quad: unknown) => {
    if (quad !== null && failure === undefined) sink.add(quadOf(quad as FactoryQuad));
    return true;
  };
  return async (text) => {
    try {
      meter.reading(text.length);
      await write(parser, text);
    } catch (error) {
      failure ??= error as Error;
    }
    if (failure !== undefined) throw inPlainWords(failure);
  };
}

/** The most common errors have advice. */
function inPlainWords(error: Error): Error {
  const [, kind, name] = /^Invalid (predicate|resource|term) IRI: (.*)$/s.exec(error.message) ?? [];
  if (kind === undefined) return error;
  const advice =
    kind === "predicate"
      ? `Map it, to an IRI or to null, in a "@context" that comes before it`
      : `Write it in full, or give the document a base IRI ("@base")`;
  return invalid(
    `${JSON.stringify(name?.slice(0, 200))} is not an absolute IRI, so its data would be lost. ${advice}.`,
    { cause: error },
  );
}

/** The parser may buffer quads until the end of a graph without reporting their size, so IRIs are counted as they are created. */
function metered(factory: TermFactory): { readonly factory: TermFactory; reading(characters: number): void } {
  let allowed: number = rdfLimits.expansionFreeCharsMax;
  return {
    reading(characters) {
      allowed = Math.min(allowed + characters * rdfLimits.jsonldIriCharsPerCharMax, rdfLimits.expansionCharsMax);
    },
    factory: {
      ...factory,
      namedNode(value) {
        allowed -= value.length;
        if (allowed < 0) throw tooLong();
        return factory.namedNode(value);
      },
    },
  };
}

async function write(parser: JsonLdParser, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    parser._transform(Buffer.from(text), "utf8", (error?: Error | null) => {
      if (error === undefined || error === null) resolve();
      else reject(error);
    });
  });
}

async function refuseRemote(url: string): Promise<never> {
  throw invalid(
    `The context ${JSON.stringify(url)} is remote, and contexts are never fetched. Put its content into the document as the value of "@context".`,
  );
}
