/**
 * Loads RDF into a collection, as a stream of any length.
 *
 * Incremental (default): triples are stored in batches as they are parsed. At a syntax error the load stops; earlier triples stay, and the
 * answer gives their number and the line of the error. All or nothing: the whole body is parsed first, and an error stores nothing. A small
 * body is then stored in one transaction (`atomic` in the answer); a larger one in batches, which only a failing store can interrupt: the
 * error says what is stored, and sending the same body again completes it.
 */
import { createHash } from "node:crypto";
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import { defaultGraph, type Quad, type TermText } from "../../domain/rdf.ts";
import { readRdf, rdfFormats, type RdfFormat } from "../../rdf/index.ts";
import { graphLimits } from "./graph-limits.ts";
import { readBody, type ReadBody } from "./read-body.ts";
import type { SpaceWriter } from "./space-writer.ts";
import { readGraph } from "./triple-view.ts";

export interface LoadInput {
  readonly format: RdfFormat;
  readonly body: AsyncIterable<Uint8Array>;
  readonly all_or_nothing?: boolean | undefined;
  /** Base of relative IRIs. */
  readonly base_iri?: string | undefined;
  /** The graph of triples that the body puts in no named graph. */
  readonly graph?: string | undefined;
  /** Called after each stored batch. */
  readonly progress?: ((soFar: { readonly read: number; readonly inserted: number }) => void) | undefined;
}

export interface LoadResult {
  /** Triples in the body, up to its end or its error. */
  readonly read: number;
  /** Triples that were not stored before. */
  readonly inserted: number;
  /** For all or nothing: whether a single transaction stored everything. */
  readonly atomic?: boolean;
  /** Why it stopped before the end. */
  readonly errors?: readonly LoadError[];
}

export interface LoadError {
  /** From 1; null if the error has no line, such as a dropped connection. */
  readonly line: number | null;
  readonly code: string;
  readonly detail: string;
}

/** Why a load stopped early, with what it stored; undefined if it did not. */
export function stoppedLoad({
  errors = [],
  read,
  inserted,
}: LoadResult): { readonly code: "INVALID" | "LIMIT_EXCEEDED"; readonly detail: string } | undefined {
  const [first] = errors;
  if (first === undefined) return undefined;
  const before =
    read === 1
      ? `The triple before it is stored${inserted === 1 ? "" : ", as it already was"}.`
      : `The ${read} triples before it are stored, ${inserted} of them new.`;
  return {
    code: first.code === "LIMIT_EXCEEDED" ? "LIMIT_EXCEEDED" : "INVALID",
    detail: `${first.detail} ${read === 0 ? "Nothing was stored." : before}`,
  };
}

interface CheckedLoad extends Omit<LoadInput, "graph"> {
  readonly graph: TermText;
}

/** Validates the options before the collection is opened or created. */
export function checkLoad(input: LoadInput): CheckedLoad {
  if (!Object.hasOwn(rdfFormats, input.format))
    throw invalid(`format: must be one of ${Object.keys(rdfFormats).join(", ")}; got ${show(input.format)}.`);
  const graph = input.graph === undefined ? defaultGraph : readGraph("graph", input.graph);
  if (graph.startsWith('"')) throw invalid('"graph": must be an IRI; got a literal.');
  if (graph.startsWith("_:"))
    throw invalid('"graph": must be an IRI; a blank node label has a meaning only inside a file.');
  return { ...input, graph };
}

export async function loadTriples(
  input: CheckedLoad,
  writer: SpaceWriter,
  options: { readonly atomicQuadsMax: number; readonly newId: () => string },
): Promise<LoadResult> {
  const whole = input.all_or_nothing === true;
  await using body = await readBody(input.body, { memoryBytesMax: graphLimits.hashedBytesMax, whole });
  const blankPrefix = prefixOf(input, body, options.newId);
  const read = () =>
    inGraph(readRdf(body.chunks(), { format: input.format, baseIri: input.base_iri, blankPrefix }), input.graph);
  const load = new Load(writer, input.progress);
  if (!whole) return load.asItComes(read());
  const small = await checkWhole(read(), Math.min(options.atomicQuadsMax, graphLimits.atomicQuadsMax));
  return small === undefined ? { ...(await load.asItComes(read())), atomic: false } : load.atOnce(small);
}

/** The same request sent again gives the same nodes; another graph or base IRI gives others. */
function prefixOf({ format, base_iri = "", graph }: CheckedLoad, { sha256 }: ReadBody, newId: () => string): string {
  if (sha256 === undefined) return `f${newId().replaceAll("-", "")}`;
  const name = createHash("sha256").update(JSON.stringify([sha256, format, base_iri, graph]));
  return `b${name.digest("hex").slice(0, 32)}`;
}

async function* inGraph(batches: AsyncIterable<readonly Quad[]>, graph: TermText): AsyncGenerator<readonly Quad[]> {
  for await (const quads of batches)
    yield graph === defaultGraph
      ? quads
      : quads.map((quad) => (quad.g === defaultGraph ? { ...quad, g: graph } : quad));
}

/** Parses to the end, to find errors before anything is stored. Returns all quads if one transaction can hold them. */
async function checkWhole(
  batches: AsyncIterable<readonly Quad[]>,
  quadsMax: number,
): Promise<readonly Quad[] | undefined> {
  let kept: Quad[] | undefined = [];
  let chars = 0;
  try {
    for await (const quads of batches) {
      if (kept === undefined) continue;
      for (const quad of quads) chars += charsOf(quad);
      if (kept.length + quads.length <= quadsMax && chars <= graphLimits.atomicCharsMax) kept.push(...quads);
      else kept = undefined;
    }
  } catch (error) {
    if (!PinakesError.isInstance(error)) throw error;
    throw new PinakesError(error.code, `${error.detail} Nothing was stored.`, {
      cause: error,
      retryable: error.retryable,
    });
  }
  return kept;
}

function charsOf({ s, p, o, g }: Quad): number {
  return s.length + p.length + o.length + g.length;
}

class Load {
  readonly #writer: SpaceWriter;
  readonly #progress: LoadInput["progress"];
  #read = 0;
  #inserted = 0;
  #waiting: Quad[] = [];
  #chars = 0;
  #storing: Promise<void> | undefined;

  constructor(writer: SpaceWriter, progress: LoadInput["progress"]) {
    this.#writer = writer;
    this.#progress = progress;
  }

  async atOnce(quads: readonly Quad[]): Promise<LoadResult> {
    const inserted = quads.length === 0 ? 0 : (await this.#writer.write({ insert: quads, atomic: true })).inserted;
    return { read: quads.length, inserted, atomic: true };
  }

  async asItComes(batches: AsyncGenerator<readonly Quad[]>): Promise<LoadResult> {
    await using _ = batches;
    for (;;) {
      const next = await batches.next().catch((error: unknown) => ({ error }));
      if ("error" in next) return this.#stopped(next.error);
      if (next.done === true) break;
      for (const quad of next.value) {
        if (
          this.#waiting.length >= graphLimits.writeQuadsMax ||
          (this.#waiting.length > 0 && this.#chars + charsOf(quad) > graphLimits.writeCharsMax)
        )
          await this.#write();
        this.#waiting.push(quad);
        this.#chars += charsOf(quad);
      }
      this.#read += next.value.length;
    }
    await this.#finish();
    return { read: this.#read, inserted: this.#inserted };
  }

  /** Stores one batch while the next is parsed. */
  async #write(): Promise<void> {
    await this.#stored();
    const insert = this.#waiting;
    this.#waiting = [];
    this.#chars = 0;
    this.#storing = this.#writer.write({ insert }).then(({ inserted }) => {
      this.#inserted += inserted;
      this.#progress?.({ read: this.#read, inserted: this.#inserted });
    });
    // Its error is handled before the next write; until then it must not count as unhandled.
    this.#storing.catch(() => {});
  }

  async #stored(): Promise<void> {
    try {
      await this.#storing;
    } catch (error) {
      throw this.#withWhatIsStored(error);
    }
  }

  async #finish(): Promise<void> {
    if (this.#waiting.length > 0) await this.#write();
    await this.#stored();
  }

  /** Returns errors of the body; throws our own. */
  async #stopped(error: unknown): Promise<LoadResult> {
    if (!PinakesError.isInstance(error) || error.status >= 500) {
      await this.#stored();
      throw this.#withWhatIsStored(error);
    }
    await this.#finish();
    const line = /^Line (\d+) of /.exec(error.detail)?.[1];
    const problem = { line: line === undefined ? null : Number(line), code: error.code, detail: error.detail };
    return { read: this.#read, inserted: this.#inserted, errors: [problem] };
  }

  #withWhatIsStored(error: unknown): unknown {
    if (!PinakesError.isInstance(error) || this.#inserted === 0) return error;
    return new PinakesError(
      error.code,
      `${error.detail} ${this.#inserted} new triples of this load are already stored; send it again to complete it.`,
      {
        cause: error,
        retryable: error.retryable,
      },
    );
  }
}
