/** Triples over HTTP: loaded by Content-Type, queried by pattern, returned as a JSON page or completely as RDF. */
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import { invalid } from "../../domain/errors.ts";
import {
  graphLimits,
  knowledgeLimits,
  stoppedLoad,
  type CollectionName,
  type Knowledge,
  type LoadResult,
} from "../../knowledge/index.ts";
import { formatOfContentType, rdfFormats, type RdfFormat, type RdfWriteFormat } from "../../rdf/index.ts";
import { HttpError } from "../framework/http-error.ts";
import {
  chooseType,
  defineRoute,
  ok,
  queryFlag,
  queryInteger,
  readAhead,
  type Answer,
  type Offer,
  type Route,
} from "../framework/index.ts";
import { cid, Collection, queryMore, queryWishes, rid } from "./schemas.ts";

const all = "/v1/repositories/{rid}/collections/{cid}/triples";
const tag = "graph";
const params = z.object({ rid, cid });
/** Limit of the response headers: clients accept about 16 KiB. */
const linkedCollectionsMax = 20;
const limit = `Triples per page; default ${graphLimits.pageTriplesDefault}, maximum ${graphLimits.pageTriplesMax}.`;

const Term = shape<wire.Term>()(
  z
    .object({
      type: z.enum(["iri", "literal", "blank"]),
      value: z.string(),
      language: z.string().optional(),
      datatype: z.string().optional(),
    })
    .meta({ id: "Term" }),
);
/** A triple in responses. */
export const triple = { s: Term, p: Term, o: Term, g: Term.nullable().describe("null: the default graph.") };
const Triple = shape<wire.Triple>()(z.object(triple).meta({ id: "Triple" }));
const pageFields = {
  next_cursor: z.string().nullable(),
  truncated: z.boolean().describe("More triples exist: continue with next_cursor."),
};
const TriplePage = z.object({ items: z.array(Triple), ...pageFields, collection: Collection.optional() });
const TaggedPage = z.object({
  items: z.array(z.object({ repository_id: z.string(), collection_id: z.string(), ...triple })),
  ...pageFields,
  ...queryMore,
});
const LoadAnswer = shape<wire.LoadedTriples>()(
  z
    .object({
      read: z.number().describe("Triples in the body."),
      inserted: z.number().describe("Triples that were new."),
      atomic: z.boolean().optional().describe("With all_or_nothing: whether everything was stored in one transaction."),
    })
    .meta({ id: "LoadAnswer" }),
);

const inQuery = (what: string) => z.string().optional().describe(what);
const pattern = {
  s: inQuery("`<iri>` or `_:label`; default: any."),
  p: inQuery("`<iri>`"),
  o: inQuery('`<iri>`, `"words"`, `"words"@en`, `"1"^^xsd:integer` or `_:label`'),
  g: inQuery("The graph: `<iri>`, or `default` for the default graph; default: all."),
};
const termInput = z.union([z.string(), Term]);
const inBody = {
  s: termInput.optional(),
  p: termInput.optional(),
  o: termInput.optional(),
  g: termInput.nullable().optional(),
};
const tripleInput = z.strictObject({ s: termInput, p: termInput, o: termInput, g: termInput.nullable().optional() });
export const collectionList = z
  .array(z.strictObject({ repository: z.string(), collection: z.string() }))
  .min(1)
  .max(knowledgeLimits.graphCollectionsMax);

const formats = Object.keys(rdfFormats) as RdfFormat[];
const rdfTypes = formats.flatMap((format) => rdfFormats[format].mediaTypes);
/** With its charset for text formats: some clients would guess another one. */
export function withCharset(type: string): string {
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}
/** Response formats, Turtle first. */
export const rdfOffers: readonly Offer<RdfWriteFormat>[] = formats.flatMap((format) =>
  format === "json" ? [] : [{ types: rdfFormats[format].mediaTypes as [string, ...string[]], value: format }],
);
export const rdfAnswerTypes = rdfOffers.map(({ types: [type] }) => type);
const page: Offer<"page"> = { types: ["application/json"], value: "page" };

export function tripleRoutes(knowledge: Knowledge): readonly Route[] {
  return [loadRoute(knowledge), readRoute(knowledge), acrossRoute(knowledge), ...removeRoutes(knowledge)];
}

function loadRoute({ graph }: Knowledge): Route {
  return defineRoute({
    method: "POST",
    path: all,
    operationId: "loadTriples",
    summary: "Load RDF: Turtle, TriG, N-Triples, N-Quads, JSON-LD, RDF/XML, or JSON",
    description:
      "By Content-Type; a stream of any length. JSON is a list of `{ s, p, o, g }`, or an object with the list `triples`. A syntax error is a 400 with its line; triples before it are stored, and `inserted` counts them. With `all_or_nothing` an error stores nothing; a small body is then stored in one transaction (`atomic`), a large one in several, which only a failing store can interrupt. Idempotent, except that blank nodes of a body over 8 MiB are new each time, unless it is sent with `all_or_nothing`.",
    tag,
    auth: "caller",
    params,
    query: z.object({
      all_or_nothing: queryFlag().optional(),
      base_iri: z.string().optional().describe("Base for relative IRIs."),
      graph: z.string().optional().describe("The IRI of the graph for triples without a graph in the body."),
    }),
    body: { raw: rdfTypes },
    answers: { 200: { description: "Everything is stored.", schema: LoadAnswer } },
    handler: async ({ caller, params: p, query, body }) => {
      const format = formatOfContentType(body.contentType) as RdfFormat;
      return ok(whole(await graph.loadTriples(caller, p.rid, p.cid, { format, body: body.stream, ...query })));
    },
  });
}

/** A load that stopped is an error of the request, which reports what was stored. */
function whole(result: LoadResult): LoadResult {
  const stopped = stoppedLoad(result);
  if (stopped === undefined) return result;
  const { errors = [], ...counts } = result;
  const status = stopped.code === "LIMIT_EXCEEDED" ? 413 : 400;
  throw new HttpError(stopped.code, stopped.detail, { status, more: { ...counts, line: errors[0]?.line ?? null } });
}

function readRoute({ graph }: Knowledge): Route {
  return defineRoute({
    method: "GET",
    path: all,
    operationId: "matchTriples",
    summary: "Get the triples that match a pattern: a page as JSON, or all of them as RDF",
    description: "By Accept: application/json is a page; an RDF type streams all matches.",
    tag,
    auth: "caller",
    params,
    query: z.object({
      ...pattern,
      limit: queryInteger().optional().describe(limit),
      cursor: z.string().optional().describe("`next_cursor` of the previous page."),
      include_metadata: queryFlag()
        .optional()
        .describe("Adds the record of the collection to the page; as RDF a Link to it."),
    }),
    answers: { 200: { description: "A page, or all matches as RDF.", schema: TriplePage, alsoTypes: rdfAnswerTypes } },
    handler: async ({ caller, params: p, query, header, signal }) => {
      const { value } = chooseType<RdfWriteFormat | "page">(header("accept"), [page, ...rdfOffers]);
      if (value === "page") return ok(await graph.matchTriples(caller, p.rid, p.cid, query));
      const { limit: most, cursor, include_metadata = false, ...wanted } = query;
      if (most !== undefined || cursor !== undefined)
        throw invalid("limit and cursor are for pages as application/json; as RDF all matches are sent.");
      const answer = await rdfAnswer(
        await graph.exportTriples(caller, p.rid, p.cid, { ...wanted, format: value, signal }),
        value,
      );
      return include_metadata
        ? { ...answer, headers: linked({ collections: [{ repository_id: p.rid, collection_id: p.cid }] }) }
        : answer;
    },
  });
}

export async function rdfAnswer(texts: AsyncIterable<string>, format: RdfWriteFormat): Promise<Answer<never>> {
  return {
    status: 200,
    stream: await readAhead(texts),
    contentType: withCharset(rdfFormats[format].mediaTypes[0] ?? ""),
  };
}

/** Extras of a query, for formats without room for them. */
export function linked(more: LinkedMore): Readonly<Record<string, string>> {
  checkLinked(more);
  const { collections = [], missing = [] } = more;
  const links = collections.map(({ repository_id, collection_id }) => {
    const path = `/v1/repositories/${encodeURIComponent(repository_id)}/collections/${encodeURIComponent(collection_id)}`;
    return `<${path}>; rel="describedby"; type="application/json"`;
  });
  const names = missing.map(
    ({ repository, collection }) => `${encodeURIComponent(repository)}/${encodeURIComponent(collection)}`,
  );
  return {
    ...(links.length === 0 ? {} : { link: links.join(", ") }),
    ...(names.length === 0 ? {} : { "x-missing-collections": names.join(", ") }),
  };
}

export function checkLinked({ collections = [], missing = [] }: LinkedMore): void {
  if (collections.length + missing.length > linkedCollectionsMax)
    throw invalid(
      `include_metadata and unknown_collections: with more than ${linkedCollectionsMax} collections they are only available in JSON; request it with Accept.`,
    );
}

export interface LinkedMore {
  readonly collections?: readonly { readonly repository_id: string; readonly collection_id: string }[] | undefined;
  readonly missing?: readonly CollectionName[] | undefined;
}

function acrossRoute({ graph }: Knowledge): Route {
  return defineRoute({
    method: "POST",
    path: "/v1/triples:query",
    operationId: "matchTriplesAcross",
    summary: "Get the triples of several collections that match a pattern, each with its collection",
    description:
      "A missing collection fails the request unless `unknown_collections: empty` is set; a forbidden one always does.",
    tag,
    auth: "caller",
    readOnlyOk: true,
    body: z.strictObject({
      collections: collectionList,
      ...inBody,
      limit: z.number().int().optional(),
      cursor: z.string().optional(),
      ...queryWishes,
    }),
    answers: { 200: { description: "A page, in the order of the collections.", schema: TaggedPage } },
    handler: async ({ caller, body }) => ok(await graph.matchAcross(caller, body)),
  });
}

function removeRoutes({ graph }: Knowledge): readonly Route[] {
  const answers = { 200: { description: "Removed from all queries.", schema: z.object({ removed: z.number() }) } };
  return [
    defineRoute({
      method: "DELETE",
      path: all,
      operationId: "removeMatchingTriples",
      summary: "Remove the triples that match a pattern",
      tag,
      auth: "caller",
      params,
      query: z.object({
        ...pattern,
        confirm: z.string().optional().describe("The id of the collection; required if s, p, o and g are all absent."),
      }),
      answers,
      handler: async ({ caller, params: p, query }) => ok(await graph.removeTriples(caller, p.rid, p.cid, query)),
    }),
    defineRoute({
      method: "POST",
      path: `${all}:remove`,
      operationId: "removeTriples",
      summary: "Remove the triples in the body",
      description: "Labels of blank nodes are those of responses.",
      tag,
      auth: "caller",
      limits: { bodyBytesMax: 16 * 1_048_576 },
      params,
      body: z.strictObject({ triples: z.array(tripleInput).min(1) }),
      answers,
      handler: async ({ caller, params: p, body }) => ok(await graph.removeTriples(caller, p.rid, p.cid, body)),
    }),
  ];
}
