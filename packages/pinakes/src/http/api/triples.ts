/** Triples over HTTP: loading by Content-Type, asking by pattern, a page as JSON or all of it as RDF. */
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
/** Of headers: clients take about 16 KiB of them. */
const linkedCollectionsMax = 20;
const limit = `Triples on a page; ${graphLimits.pageTriplesDefault} when absent, at most ${graphLimits.pageTriplesMax}.`;

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
/** A triple as answers show it. */
export const triple = { s: Term, p: Term, o: Term, g: Term.nullable().describe("null: the graph without a name.") };
const Triple = shape<wire.Triple>()(z.object(triple).meta({ id: "Triple" }));
const pageFields = {
  next_cursor: z.string().nullable(),
  truncated: z.boolean().describe("There is more: go on with next_cursor."),
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
      inserted: z.number().describe("Those that were not there already."),
      atomic: z.boolean().optional().describe("With all_or_nothing: whether one transaction stored all of it."),
    })
    .meta({ id: "LoadAnswer" }),
);

const inQuery = (what: string) => z.string().optional().describe(what);
const pattern = {
  s: inQuery("`<iri>` or `_:label`; anything when absent."),
  p: inQuery("`<iri>`"),
  o: inQuery('`<iri>`, `"words"`, `"words"@en`, `"1"^^xsd:integer` or `_:label`'),
  g: inQuery("The graph: `<iri>`, or `default` for the one without a name; all when absent."),
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
/** With the name of its charset where it is text: some clients would guess another one. */
export function withCharset(type: string): string {
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
}
/** What answers can be written as, Turtle first. */
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
      "By Content-Type; as a stream of any length. JSON is a list of `{ s, p, o, g }`, or an object whose `triples` is one. At a mistake the answer is 400 with the line; what stands before it is stored, and `inserted` says how many that are. With `all_or_nothing` a mistake stores nothing; what is small enough is then stored in one transaction (`atomic`), what is larger in several, which only a failing store can interrupt. The same body sent again changes nothing; blank nodes of a body of more than 8 MiB are new ones each time, unless it is sent with `all_or_nothing`.",
    tag,
    auth: "caller",
    params,
    query: z.object({
      all_or_nothing: queryFlag().optional(),
      base_iri: z.string().optional().describe("What relative IRIs are relative to."),
      graph: z.string().optional().describe("The IRI of the graph for triples that the body puts in none."),
    }),
    body: { raw: rdfTypes },
    answers: { 200: { description: "All of it is stored.", schema: LoadAnswer } },
    handler: async ({ caller, params: p, query, body }) => {
      const format = formatOfContentType(body.contentType) as RdfFormat;
      return ok(whole(await graph.loadTriples(caller, p.rid, p.cid, { format, body: body.stream, ...query })));
    },
  });
}

/** A load that stopped is an error of the request, which says what it stored all the same. */
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
    summary: "The triples that match a pattern: a page as JSON, or all of them as RDF",
    description: "By Accept: application/json is a page; an RDF type is everything that matches, as a stream.",
    tag,
    auth: "caller",
    params,
    query: z.object({
      ...pattern,
      limit: queryInteger().optional().describe(limit),
      cursor: z.string().optional().describe("`next_cursor` of the page before."),
      include_metadata: queryFlag().optional().describe("Adds the collection to the page; as RDF a Link to it."),
    }),
    answers: { 200: { description: "A page, or all as RDF.", schema: TriplePage, alsoTypes: rdfAnswerTypes } },
    handler: async ({ caller, params: p, query, header, signal }) => {
      const { value } = chooseType<RdfWriteFormat | "page">(header("accept"), [page, ...rdfOffers]);
      if (value === "page") return ok(await graph.matchTriples(caller, p.rid, p.cid, query));
      const { limit: most, cursor, include_metadata = false, ...wanted } = query;
      if (most !== undefined || cursor !== undefined)
        throw invalid("limit and cursor are for pages as application/json; as RDF everything that matches is sent.");
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

/** What else a query asked for, where the body is in a format that has no room for it. */
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
      `include_metadata and unknown_collections: of more than ${linkedCollectionsMax} collections only JSON tells; ask for it with Accept.`,
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
    summary: "The triples of several collections that match a pattern, each with the collection it is in",
    description:
      "One collection that is not there refuses the whole request, unless it says `unknown_collections: empty`; one that is forbidden always does.",
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
  const answers = { 200: { description: "Gone from every query.", schema: z.object({ removed: z.number() }) } };
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
        confirm: z.string().optional().describe("The id of the collection; needed where s, p, o and g are all absent."),
      }),
      answers,
      handler: async ({ caller, params: p, query }) => ok(await graph.removeTriples(caller, p.rid, p.cid, query)),
    }),
    defineRoute({
      method: "POST",
      path: `${all}:remove`,
      operationId: "removeTriples",
      summary: "Remove the triples that are given",
      description: "Labels of blank nodes are those that answers show.",
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
