/**
 * Graphs of a collection by the SPARQL 1.1 Graph Store Protocol: identified by `?graph=` or `?default`, or directly, where the request URL
 * is the name of the graph.
 */
import { z } from "zod";
import { invalid, PinakesError } from "../../domain/errors.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { formatOfContentType, rdfFormats, type RdfFormat } from "../../rdf/index.ts";
import { parts } from "../framework/body/multipart.ts";
import { unsupportedType } from "../framework/body/body.ts";
import { chooseType, created, defineRoute, noContent, type Answer, type Route } from "../framework/index.ts";
import { cid, rid } from "./schemas.ts";
import { rdfAnswer, rdfAnswerTypes, rdfOffers } from "./triples.ts";

const store = "/v1/repositories/{rid}/collections/{cid}/graphs";
const tag = "graph";
const params = z.object({ rid, cid });
const directParams = z.object({ rid, cid, graph: z.string().describe("The rest of the graph's IRI.") });
const form = "multipart/form-data";
const rdfTypes = (Object.keys(rdfFormats) as RdfFormat[]).flatMap((format) => rdfFormats[format].mediaTypes);
/** The size of one transaction, with room for long IRIs. */
const bodyBytesMax = 64 * 1_048_576;
const named = {
  graph: z.string().optional().describe("The IRI of the graph."),
  default: z.string().optional().describe("The default graph; a flag without a value."),
};
type Named = { readonly graph?: string | undefined; readonly default?: string | undefined };

const answers = {
  200: {
    description: "The graph, in the format of Accept.",
    contentType: "text/turtle",
    alsoTypes: rdfAnswerTypes.slice(1),
  },
} as const;
const written = {
  201: { description: "The graph was created; its IRI is in Location." },
  204: { description: "The existing graph was changed." },
} as const;
const removed = { 204: { description: "The graph no longer exists." } } as const;

interface Place {
  readonly rid: string;
  readonly cid: string;
  /** Undefined means the default graph. */
  readonly graph: string | undefined;
}

export function graphStoreRoutes(knowledge: Knowledge): readonly Route[] {
  return [...indirect(knowledge), ...direct(knowledge)];
}

function indirect(knowledge: Knowledge): readonly Route[] {
  const shared = { path: store, tag, auth: "caller", params } as const;
  return [
    defineRoute({
      ...shared,
      method: "GET",
      operationId: "getGraph",
      summary: "Read a graph of a collection (Graph Store Protocol)",
      description: "A named graph exists while it has triples; the default graph always does.",
      query: z.object(named),
      answers,
      handler: async ({ caller, params: p, query, header, signal }) =>
        read(knowledge, caller, { ...p, graph: nameIn(query) }, { accept: header("accept"), signal }),
    }),
    defineRoute({
      ...shared,
      method: "PUT",
      operationId: "putGraph",
      summary: "Replace a graph in one transaction",
      query: z.object(named),
      limits: { bodyBytesMax },
      body: { raw: rdfTypes },
      answers: written,
      handler: async ({ caller, params: p, query, body, raw }) =>
        write(knowledge, caller, { ...p, graph: nameIn(query) }, { replace: true, body, raw }),
    }),
    defineRoute({
      ...shared,
      method: "POST",
      operationId: "postGraph",
      summary: "Add triples to a graph; to a new one if none is specified",
      query: z.object(named),
      limits: { bodyBytesMax },
      body: { raw: [...rdfTypes, form] },
      answers: written,
      handler: async ({ caller, params: p, query, body, raw }) => {
        const isNew = query.graph === undefined && query.default === undefined;
        const graph = isNew ? `${addressOf(raw)}/${crypto.randomUUID()}` : nameIn(query);
        return write(knowledge, caller, { ...p, graph }, { replace: false, body, raw });
      },
    }),
    defineRoute({
      ...shared,
      method: "DELETE",
      operationId: "deleteGraph",
      summary: "Remove a graph",
      query: z.object(named),
      answers: removed,
      handler: async ({ caller, params: p, query }) => remove(knowledge, caller, { ...p, graph: nameIn(query) }),
    }),
  ];
}

function direct(knowledge: Knowledge): readonly Route[] {
  const shared = { path: `${store}/{graph*}`, tag, auth: "caller", params: directParams } as const;
  const place = ({ rid: r, cid: c }: { rid: string; cid: string }, raw: Request): Place => ({
    rid: r,
    cid: c,
    graph: addressOf(raw),
  });
  return [
    defineRoute({
      ...shared,
      method: "GET",
      operationId: "getGraphHere",
      summary: "Read the graph whose IRI is the request URL",
      answers,
      handler: async ({ caller, params: p, header, signal, raw }) =>
        read(knowledge, caller, place(p, raw), { accept: header("accept"), signal }),
    }),
    defineRoute({
      ...shared,
      method: "PUT",
      operationId: "putGraphHere",
      summary: "Replace the graph whose IRI is the request URL",
      limits: { bodyBytesMax },
      body: { raw: rdfTypes },
      answers: written,
      handler: async ({ caller, params: p, body, raw }) =>
        write(knowledge, caller, place(p, raw), { replace: true, body, raw }),
    }),
    defineRoute({
      ...shared,
      method: "POST",
      operationId: "postGraphHere",
      summary: "Add triples to the graph whose IRI is the request URL",
      limits: { bodyBytesMax },
      body: { raw: [...rdfTypes, form] },
      answers: written,
      handler: async ({ caller, params: p, body, raw }) =>
        write(knowledge, caller, place(p, raw), { replace: false, body, raw }),
    }),
    defineRoute({
      ...shared,
      method: "DELETE",
      operationId: "deleteGraphHere",
      summary: "Remove the graph whose IRI is the request URL",
      answers: removed,
      handler: async ({ caller, params: p, raw }) => remove(knowledge, caller, place(p, raw)),
    }),
  ];
}

type Caller = Parameters<Knowledge["graph"]["hasGraph"]>[0];

async function read(
  { graph: graphs }: Knowledge,
  caller: Caller,
  { rid: r, cid: c, graph }: Place,
  { accept, signal }: { readonly accept: string | undefined; readonly signal: AbortSignal },
): Promise<Answer<never>> {
  const { value } = chooseType(accept, rdfOffers);
  await requireGraph(graphs, caller, { rid: r, cid: c, graph });
  const g = graph === undefined ? null : ({ type: "iri", value: graph } as const);
  const texts = await graphs.exportTriples(caller, r, c, { g, format: value, signal });
  return rdfAnswer(texts, value);
}

interface Written {
  readonly replace: boolean;
  readonly body: { readonly contentType: string; readonly stream: AsyncIterable<Uint8Array> };
  readonly raw: Request;
}

async function write(
  { graph: graphs }: Knowledge,
  caller: Caller,
  { rid: r, cid: c, graph }: Place,
  { replace, body, raw }: Written,
): Promise<Answer<never>> {
  const bodies = body.contentType === form ? formBodies(raw) : oneBody(body);
  const base_iri = graph ?? addressOf(raw);
  const { created: isNew } = await graphs.writeGraph(caller, r, c, { graph, bodies, base_iri, replace });
  return isNew ? (created(undefined, { location: graph ?? base_iri }) as Answer<never>) : noContent();
}

async function remove({ graph: graphs }: Knowledge, caller: Caller, place: Place): Promise<Answer<never>> {
  await requireGraph(graphs, caller, place);
  const g = place.graph === undefined ? null : ({ type: "iri", value: place.graph } as const);
  await graphs.removeTriples(caller, place.rid, place.cid, { g });
  return noContent();
}

async function requireGraph(
  graphs: Knowledge["graph"],
  caller: Caller,
  { rid: r, cid: c, graph }: Place,
): Promise<void> {
  if (!(await graphs.hasGraph(caller, r, c, graph)))
    throw new PinakesError("NOT_FOUND", `There is no graph <${graph ?? ""}> in this collection.`);
}

function nameIn({ graph, default: unnamed }: Named): string | undefined {
  if ((graph === undefined) === (unnamed === undefined))
    throw invalid("Identify the graph with either ?graph=<IRI> or ?default.");
  return graph;
}

/** Without the query string, which is not part of the graph's name. */
function addressOf({ url }: Request): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

async function* oneBody({ contentType, stream }: Written["body"]) {
  yield { format: formatOfContentType(contentType) as RdfFormat, body: stream };
}

/** Each file in its own format. */
async function* formBodies(raw: Request) {
  for await (const part of parts(raw, { bodyBytesMax })) {
    if (part.kind !== "file") throw invalid(`${part.name}: a form for a graph may only contain files.`);
    const format = formatOfContentType(part.contentType ?? "");
    if (format === undefined) throw unsupportedType(part.contentType, rdfTypes);
    yield { format, body: part.stream };
  }
}
