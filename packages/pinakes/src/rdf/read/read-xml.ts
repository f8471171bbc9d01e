/**
 * Reads RDF/XML with rdfxml-streaming-parser, and adds what it lacks: text split by a comment or CDATA is joined, markup in an XML literal
 * stays escaped, an absolute IRI is left unchanged, the end of the document is checked, and memory is bounded. An entity is expanded once
 * and its text is not expanded again, so entity bombs are impossible; an entity that refers to another is rejected, since the result would
 * be wrong.
 */
import type { RdfXmlParser } from "rdfxml-streaming-parser";
import { invalid, type PinakesError } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import { rdfLimits } from "../limits.ts";
import { problemAt } from "../problem.ts";
import { QuadSink } from "./quad-sink.ts";
import type { ReadContext } from "./read-context.ts";
import { type FactoryQuad, quadOf } from "./term-factory.ts";
import { escapeXml } from "../write/xml-text.ts";

/** Internals that we use, which its types hide. */
interface Insides {
  readonly saxParser: {
    readonly line: number;
    readonly text: string;
    on(event: "error", handler: (error: Error) => void): void;
    close(): void;
  };
  readonly activeTagStack: { childrenStringTags?: string[]; predicate?: unknown; text?: string }[];
}

type Tag = Parameters<RdfXmlParser["onTag"]>[0];

export async function* readXml(
  texts: AsyncIterable<string>,
  context: ReadContext,
): AsyncGenerator<readonly Quad[], void, void> {
  const sink = new QuadSink();
  const parser = await makeParser(sink, context);
  const { saxParser } = parser as unknown as Insides;
  const attempt = (text: string, act: () => void): PinakesError | undefined => {
    try {
      sink.reading(text.length);
      act();
      if (saxParser.text.length > rdfLimits.tokenCharsMax)
        throw invalid(
          `Something here does not end within ${rdfLimits.tokenCharsMax} characters: an end tag or quote may be missing, or text is too long.`,
        );
    } catch (error) {
      return problemAt("rdfxml", saxParser.line, error);
    }
    return undefined;
  };
  // Quads before an error are yielded before it is thrown.
  for await (const text of texts) {
    const problem = attempt(text, () => write(parser, text));
    yield* sink.take();
    if (problem !== undefined) throw problem;
  }
  const problem = attempt("", () => saxParser.close());
  yield* sink.take();
  if (problem !== undefined) throw problem;
}

function write(parser: RdfXmlParser, text: string): void {
  let failure: Error | undefined;
  parser._transform(text, "utf8", (error?: Error | null) => {
    failure = error ?? undefined;
  });
  if (failure !== undefined) throw failure;
}

async function makeParser(sink: QuadSink, context: ReadContext): Promise<RdfXmlParser> {
  const { RdfXmlParser } = await import("rdfxml-streaming-parser");
  const ids = new RdfIds();
  class Reader extends RdfXmlParser {
    get tags(): Insides["activeTagStack"] {
      return (this as unknown as Insides).activeTagStack;
    }

    override push(quad: unknown): boolean {
      if (quad !== null) sink.add(quadOf(quad as FactoryQuad));
      return true;
    }

    override valueToUri(
      ...[value, tag]: Parameters<RdfXmlParser["valueToUri"]>
    ): ReturnType<RdfXmlParser["valueToUri"]> {
      const isWhole = /^[A-Za-z][A-Za-z0-9+.-]*:/.test(value) || !tag.baseIRI;
      return isWhole ? this.uriToNamedNode(value) : super.valueToUri(value, tag);
    }

    override claimNodeId({ value }: Parameters<RdfXmlParser["claimNodeId"]>[0]): void {
      ids.claim(value);
    }

    override onTag(tag: Tag): void {
      if (this.tags.length >= context.nestingLevelsMax)
        throw invalid(`More than ${context.nestingLevelsMax} elements are nested here; name the nodes instead.`);
      if (this.tags.at(-1)?.childrenStringTags !== undefined) {
        for (const attribute of Object.values(tag.attributes)) attribute.value = escapeXml(attribute.value);
      }
      super.onTag(tag);
    }

    override onText(text: string): void {
      const tag = this.tags.at(-1);
      if (tag?.childrenStringTags !== undefined) tag.childrenStringTags.push(escapeXml(text));
      else if (tag?.predicate !== undefined && tag.predicate !== null) tag.text = joined(tag.text ?? "", text);
    }

    override onDoctype(doctype: string): void {
      checkDoctype(doctype);
      super.onDoctype(doctype);
    }
  }
  const dataFactory = context.factory as unknown as NonNullable<
    NonNullable<ConstructorParameters<typeof RdfXmlParser>[0]>["dataFactory"]
  >;
  // The factory checks IRIs.
  const parser = new Reader({
    dataFactory,
    validateUri: false,
    trackPosition: false,
    ...(context.baseIri === undefined ? {} : { baseIRI: context.baseIri }),
  });
  (parser as unknown as Insides).saxParser.on("error", (error) => {
    throw error;
  });
  return parser;
}

function joined(before: string, text: string): string {
  if (before.length + text.length > rdfLimits.tokenCharsMax)
    throw invalid(`Text here is longer than ${rdfLimits.tokenCharsMax} characters; store long text as documents.`);
  return before + text;
}

function checkDoctype(doctype: string): void {
  if (doctype.length > rdfLimits.doctypeCharsMax)
    throw invalid(
      `The DOCTYPE is longer than ${rdfLimits.doctypeCharsMax} characters; declare only the entities that are used.`,
    );
  let count = 0;
  for (const [, name = "", value = ""] of doctype.matchAll(/<!ENTITY\s+(\S+)\s+["']([^"']*)["']/g)) {
    if (++count > rdfLimits.entitiesMax)
      throw invalid(`The DOCTYPE declares more than ${rdfLimits.entitiesMax} entities; write IRIs in full.`);
    if (value.length > rdfLimits.entityCharsMax)
      throw invalid(
        `The entity "${name.slice(0, 60)}" is longer than ${rdfLimits.entityCharsMax} characters; write its text where it is used.`,
      );
    if (/[&%<]/.test(value))
      throw invalid(
        `The entity "${name.slice(0, 60)}" contains another entity or a tag, which is not expanded; declare it with its full text.`,
      );
  }
}

/** The rdf:IDs of an RDF/XML document: they must be unique, so all are remembered, up to a limit. */
export class RdfIds {
  readonly #seen = new Set<string>();
  #chars = 0;

  claim(iri: string): void {
    if (this.#seen.has(iri))
      throw invalid(
        `rdf:ID is used twice for <${iri.slice(0, 200)}>; an ID may be declared once; use rdf:about for further references.`,
      );
    this.#seen.add(iri);
    this.#chars += iri.length;
    if (this.#seen.size > rdfLimits.rdfIdsMax || this.#chars > rdfLimits.rdfIdCharsMax)
      throw invalid(
        `There are more than ${rdfLimits.rdfIdsMax} rdf:IDs, or more than ${rdfLimits.rdfIdCharsMax} characters of them; use rdf:about, or several files.`,
      );
  }
}
