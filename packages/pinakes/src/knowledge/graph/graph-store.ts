/**
 * Whole graphs of a collection, as the SPARQL 1.1 Graph Store Protocol has them. A graph exists while it has triples; the default graph
 * always does. Replacing and merging are one transaction each: what does not fit into one is refused, never done by halves.
 */
import { createHash } from "node:crypto";
import { invalid, PinakesError } from "../../domain/errors.ts";
import { defaultGraph, type Quad, type TermText } from "../../domain/rdf.ts";
import { readRdf, type RdfFormat } from "../../rdf/index.ts";
import { graphLimits } from "./graph-limits.ts";
import { readBody } from "./read-body.ts";
import type { SpaceWriter } from "./space-writer.ts";
import { readGraph } from "./triple-view.ts";

export interface GraphBody {
  readonly format: RdfFormat;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface GraphInput {
  /** Absent: the default graph. */
  readonly graph?: string | undefined;
  /** One, or several as one graph. */
  readonly bodies: AsyncIterable<GraphBody>;
  readonly base_iri?: string | undefined;
}

export interface GraphWritten {
  /** The graph did not exist before. */
  readonly created: boolean;
  readonly inserted: number;
  readonly removed: number;
}

/** The name of a graph in a request. */
export function readGraphName(graph: string | undefined): TermText {
  if (graph === undefined) return defaultGraph;
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(graph)) throw invalid("graph: must be an absolute IRI.");
  return readGraph("graph", { type: "iri", value: graph });
}

/** All of it, before anything is written. */
export async function readGraphBodies({ bodies, base_iri }: GraphInput, graph: TermText): Promise<readonly Quad[]> {
  const quads = new Map<string, Quad>();
  let chars = 0;
  for await (const { format, body } of bodies) {
    await using whole = await readBody(body, { memoryBytesMax: graphLimits.hashedBytesMax, whole: true });
    // The same body gives the same blank nodes, so putting it again changes nothing.
    const name = createHash("sha256").update(JSON.stringify([whole.sha256, format, base_iri, graph]));
    const blankPrefix = `b${name.digest("hex").slice(0, 32)}`;
    for await (const batch of readRdf(whole.chunks(), { format, baseIri: base_iri, blankPrefix }))
      for (const { s, p, o, g } of batch) {
        if (g !== defaultGraph) throw invalid("The body contains a named graph; send the triples of one graph.");
        chars += s.length + p.length + o.length;
        quads.set(`${s} ${p} ${o}`, { s, p, o, g: graph });
        checkSize(quads.size, chars);
      }
  }
  return [...quads.values()];
}

export async function replaceGraph(
  writer: SpaceWriter,
  present: readonly Quad[],
  wanted: readonly Quad[],
): Promise<Omit<GraphWritten, "created">> {
  const keys = (quads: readonly Quad[]) => new Set(quads.map(({ s, p, o }) => `${s} ${p} ${o}`));
  const [before, after] = [keys(present), keys(wanted)];
  const insert = wanted.filter(({ s, p, o }) => !before.has(`${s} ${p} ${o}`));
  const remove = present.filter(({ s, p, o }) => !after.has(`${s} ${p} ${o}`));
  checkSize(insert.length + remove.length, 0);
  if (insert.length + remove.length === 0) return { inserted: 0, removed: 0 };
  const { inserted, removed } = await writer.write({ insert, remove, atomic: true });
  return { inserted, removed };
}

function checkSize(quads: number, chars: number): void {
  const { atomicQuadsMax, atomicCharsMax } = graphLimits;
  if (quads > atomicQuadsMax || chars > atomicCharsMax)
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `A graph is written as a whole, up to ${atomicQuadsMax} triples and ${atomicCharsMax} characters; load larger ones as triples, and remove them by pattern.`,
    );
}
