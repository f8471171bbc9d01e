/**
 * Reads JSON-LD with jsonld-streaming-parser. That parser keeps the JSON of a document in memory until its end, so we split a large
 * document into small ones: some elements of the outermost array, or of `@graph`, with the members before it. A document that fits in one
 * piece is parsed as it is, whatever the order of its members; in a larger one `@context` and `@id` must come before `@graph`, and no other
 * members are allowed.
 *
 * Contexts are never fetched: a document could make the server call any address. What JSON-LD silently drops (keys without an IRI, relative
 * ids without a base) is an error, so that no data is lost unnoticed.
 */
import { invalid } from "../../domain/errors.ts";
import type { Quad } from "../../domain/rdf.ts";
import { JsonScanner, type JsonPart } from "./json-scanner.ts";
import { parseJsonld, locateProblem, type Piece } from "./parse-jsonld.ts";
import { rdfLimits } from "../limits.ts";
import { problemAt } from "../problem.ts";
import { QuadSink } from "./quad-sink.ts";
import type { ReadContext } from "./read-context.ts";

const graphKey = "@graph";
const mayPrecede: ReadonlySet<string> = new Set(["@context", "@id"]);

export async function* readJsonld(
  texts: AsyncIterable<string>,
  context: ReadContext,
): AsyncGenerator<readonly Quad[], void, void> {
  const scanner = new JsonScanner({
    streamed: new Set([graphKey]),
    nestingLevelsMax: context.nestingLevelsMax,
    stringCharsMax: rdfLimits.tokenCharsMax,
    partCharsMax: rdfLimits.jsonPartCharsMax,
  });
  const sink = new QuadSink();
  const document = new CutDocument();
  const parse = async function* () {
    for (const pieces of document.cut()) {
      await parsePieces(pieces, sink, context);
      yield* sink.take();
    }
  };
  for await (const text of texts) {
    for (const part of attempt(scanner, () => scanner.write(text))) {
      attempt(scanner, () => document.add(part));
      if (document.isFull) yield* parse();
    }
  }
  attempt(scanner, () => scanner.end());
  document.finished = true;
  yield* parse();
}

function attempt<Result>(scanner: JsonScanner, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw problemAt("jsonld", scanner.line, error);
  }
}

async function parsePieces(pieces: readonly Piece[], sink: QuadSink, context: ReadContext): Promise<void> {
  try {
    await parseJsonld(pieces, sink, context);
  } catch (error) {
    throw problemAt("jsonld", await locateProblem(pieces, error, context), error);
  }
}

/** Read but not parsed yet. */
class CutDocument {
  finished = false;
  private readonly members: JsonPart[] = [];
  private elements: JsonPart[] = [];
  private memberChars = 0;
  private elementChars = 0;
  private inGraph = false;
  private wasCut = false;

  add(part: JsonPart): void {
    if (part.kind === "element") {
      this.inGraph = part.key === graphKey;
      this.elements.push(part);
      this.elementChars += part.text.length;
      return;
    }
    if (this.wasCut)
      throw invalid(
        `In a document of this size nothing may follow "@graph"; move "${part.key.slice(0, 60)}" before it.`,
      );
    this.members.push(part);
    this.memberChars += part.text.length;
    if (this.memberChars > rdfLimits.jsonPartCharsMax)
      throw invalid(`One node here is longer than ${rdfLimits.jsonPartCharsMax} characters; split it into several.`);
  }

  /** Array elements are self-contained; the context and name of a graph may still follow. */
  get isFull(): boolean {
    return (
      this.elementChars > (this.inGraph && !this.wasCut ? rdfLimits.jsonldHeldCharsMax : rdfLimits.jsonldPieceCharsMin)
    );
  }

  /** Builds documents from the buffered parts, as text with line numbers. */
  *cut(): Generator<readonly Piece[], void, void> {
    const { elements } = this;
    const other = this.members.find((member) => !mayPrecede.has(member.key));
    if (!this.finished && other !== undefined) {
      throw problemAt(
        "jsonld",
        other.line,
        `A document of this size may only have "@context", "@id" and "@graph"; move "${other.key.slice(0, 60)}" into a node of "@graph".`,
      );
    }
    const whole = other !== undefined || (elements.length === 0 && !this.wasCut);
    this.elements = [];
    this.elementChars = 0;
    this.wasCut ||= !this.finished;
    if (whole) yield this.document(elements);
    else for (const some of this.groups(elements)) yield this.document(some);
  }

  /** A large context is not parsed again for every few nodes. */
  private *groups(elements: readonly JsonPart[]): Generator<readonly JsonPart[], void, void> {
    let group: JsonPart[] = [];
    let chars = 0;
    for (const element of elements) {
      group.push(element);
      chars += element.text.length;
      if (chars < Math.max(rdfLimits.jsonldPieceCharsMin, 4 * this.memberChars)) continue;
      yield group;
      group = [];
      chars = 0;
    }
    if (group.length > 0) yield group;
  }

  private document(elements: readonly JsonPart[]): readonly Piece[] {
    const listed: Piece[] = elements.flatMap((element, index) => [
      { text: index === 0 ? "" : ",", line: element.line },
      element,
    ]);
    const named: Piece[] = this.members
      .toSorted((a, b) => rank(a.key) - rank(b.key))
      .flatMap((member, index) => [
        { text: `${index === 0 ? "" : ","}${JSON.stringify(member.key)}:`, line: member.line },
        member,
      ]);
    if (!this.inGraph && named.length === 0) return [{ text: "[", line: 0 }, ...listed, { text: "]", line: 0 }];
    if (!this.inGraph) return [{ text: "{", line: 0 }, ...named, { text: "}", line: 0 }];
    return [
      { text: "{", line: 0 },
      ...named,
      { text: `${named.length === 0 ? "" : ","}"@graph":[`, line: 0 },
      ...listed,
      { text: "]}", line: 0 },
    ];
  }
}

/** Moves the keys that the parser needs first to the front. */
function rank(key: string): number {
  const at = ["@context", "@type", "@id"].indexOf(key);
  return at === -1 ? 3 : at;
}
