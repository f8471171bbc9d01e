/** SPARQL over HTTP, by the SPARQL 1.1 Protocol: queries and updates of one collection, and queries of several. */
import type { SparqlUpdated } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import { PinakesError } from "../../domain/errors.ts";
import { graphLimits, type Knowledge, type SparqlAnswer, type SparqlInput } from "../../knowledge/index.ts";
import { sparqlResultFormats, writeSparqlResults, type SparqlResultFormat } from "../../sparql/index.ts";
import { writeRdf } from "../../rdf/index.ts";
import {
  bestType,
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
import { cid, queryWishes, rid } from "./schemas.ts";
import { readSparqlForm, readText, type SentSettings, type SparqlGraphs } from "./sparql-form.ts";
import {
  checkLinked,
  collectionList,
  linked,
  rdfAnswer,
  rdfAnswerTypes,
  rdfOffers,
  withCharset,
  type LinkedMore,
} from "./triples.ts";
import { noteChange } from "../../runtime/call-notes.ts";

const one = "/v1/repositories/{rid}/collections/{cid}/sparql";
const tag = "graph";
const params = z.object({ rid, cid });
/** An update of the maximum size, each character percent-encoded in a form. */
const bodyBytesMax = 16 * 1_048_576;
const types = {
  query: "application/sparql-query",
  update: "application/sparql-update",
  form: "application/x-www-form-urlencoded",
};

const graphIris = z.array(z.string()).optional();
const settings = {
  default_graph: z
    .enum(["unnamed", "union"])
    .optional()
    .describe("What a pattern outside GRAPH matches: triples of the default graph (default), or of all graphs."),
  timeout_ms: queryInteger()
    .optional()
    .describe(`Default ${graphLimits.sparqlTimeoutMsDefault}, maximum ${graphLimits.sparqlTimeoutMsMax}.`),
  limit: queryInteger().optional().describe(`More rows than this are an error; default ${graphLimits.sparqlRowsMax}.`),
  base_iri: z
    .string()
    .optional()
    .describe("Base for relative IRIs, unless the query has a BASE; default: the request URL."),
  include_metadata: queryFlag()
    .optional()
    .describe(
      "Adds the record of the collection: as `collections` beside `head` in JSON results, else as a Link with rel=describedby.",
    ),
};
const queryGraphs = { "default-graph-uri": graphIris, "named-graph-uri": graphIris };
const updateGraphs = { "using-graph-uri": graphIris, "using-named-graph-uri": graphIris };

const offers: readonly Offer<SparqlResultFormat>[] = sparqlResultFormats.map((type) => ({
  types: [type, ...aliasesOf(type)],
  value: type,
}));
const booleanOffers = offers.filter(({ value }) => !value.startsWith("text/"));
/** The only format with room for extra fields. */
const [json] = sparqlResultFormats;
const Updated = shape<wire.SparqlUpdated>()(z.object({ inserted: z.number(), removed: z.number() }));
const answerTypes = [...sparqlResultFormats, ...rdfAnswerTypes];
const resultAnswers = {
  200: {
    description: "Rows or a boolean, in the format of Accept; triples of CONSTRUCT and DESCRIBE as RDF.",
    contentType: sparqlResultFormats[0],
    alsoTypes: answerTypes,
  },
};

/** Media types that generic clients ask for. */
function aliasesOf(type: SparqlResultFormat): readonly string[] {
  if (type.endsWith("+json")) return ["application/json"];
  return type.endsWith("+xml") ? ["application/xml", "text/xml"] : [];
}

export function sparqlRoutes(knowledge: Knowledge): readonly Route[] {
  return [queryRoute(knowledge), postRoute(knowledge), acrossRoute(knowledge)];
}

function queryRoute({ graph }: Knowledge): Route {
  return defineRoute({
    method: "GET",
    path: one,
    operationId: "sparqlQuery",
    summary: "Query a collection with SPARQL 1.1",
    description:
      "The query reads the triples of this collection only, whatever graphs it names. SERVICE is rejected. Exceeding the time or row limit is an error; results are never truncated.",
    tag,
    auth: "caller",
    params,
    query: z.object({ query: z.string(), ...queryGraphs, ...settings }),
    answers: resultAnswers,
    handler: async ({ caller, params: p, query: { query, ...rest }, header, signal, raw }) =>
      answering(
        signal,
        () => graph.sparql(caller, p.rid, p.cid, { query, ...based(settingsOf(rest), raw), signal }),
        header("accept"),
      ),
  });
}

function postRoute({ graph }: Knowledge): Route {
  return defineRoute({
    method: "POST",
    path: one,
    operationId: "sparql",
    summary: "Query or update a collection with SPARQL 1.1",
    description: `The text as ${types.query} or ${types.update}, or a form with \`query\` or \`update\`. An update needs WRITE; LOAD is rejected. Each operation of an update is atomic if the engine has transactions for triples, else it is written in one pass.`,
    tag,
    auth: "caller",
    // A query only reads; an update is authorized below.
    readOnlyOk: true,
    limits: { bodyBytesMax },
    params,
    query: z.object({ ...queryGraphs, ...updateGraphs, ...settings }),
    body: { raw: Object.values(types) },
    answers: {
      200: {
        description: "The result of the query, in the format of Accept; or the counts of an update.",
        schema: Updated,
        alsoTypes: answerTypes,
      },
    },
    handler: async ({ caller, auth, params: p, query, body, header, signal, raw }) => {
      const sent = await readText(body.stream);
      const asked = based(
        body.contentType === types.form
          ? readSparqlForm(sent, query)
          : { ...settingsOf(query), ...textOf(body.contentType, sent) },
        raw,
      );
      if (asked.update !== undefined && auth.readOnly === true)
        throw new PinakesError(
          "FORBIDDEN",
          "This key is read-only. Use one with write access, or ask an administrator for one.",
        );
      if (asked.update !== undefined) noteChange("update");
      return answering(signal, () => graph.sparql(caller, p.rid, p.cid, { ...asked, signal }), header("accept"));
    },
  });
}

function acrossRoute({ graph }: Knowledge): Route {
  const iris = z.array(z.string()).optional();
  return defineRoute({
    method: "POST",
    path: "/v1/sparql",
    operationId: "sparqlAcross",
    summary: "Query several collections with SPARQL 1.1 as if they were one",
    description:
      "Queries only. A missing collection fails the request unless `unknown_collections: empty` is set; a forbidden one always does. Requested extras (`collections`, `collection_exists`, `missing`) are beside `head` in JSON results; else in the headers Link and X-Missing-Collections. Blank nodes of different collections are distinct.",
    tag,
    auth: "caller",
    readOnlyOk: true,
    body: z.strictObject({
      query: z.string(),
      collections: collectionList,
      default_graphs: iris,
      named_graphs: iris,
      default_graph: settings.default_graph,
      timeout_ms: z.number().int().optional(),
      limit: z.number().int().optional(),
      base_iri: settings.base_iri,
      ...queryWishes,
    }),
    answers: resultAnswers,
    handler: async ({ caller, body, header, signal, raw }) => {
      const accept = header("accept");
      const checkMore = (more: LinkedMore) => {
        // If not even ASK can be answered in JSON, extras that headers cannot carry are rejected before the query runs.
        if (bestType(accept, booleanOffers)?.value !== json) checkLinked(more);
      };
      return answering(signal, () => graph.sparqlAcross(caller, { ...based(body, raw), checkMore, signal }), accept);
    },
  });
}

function settingsOf(sent: SparqlGraphs & SentSettings): SparqlInput {
  const { default_graph, timeout_ms, limit, base_iri, include_metadata } = sent;
  const first = sent["default-graph-uri"] ?? sent["using-graph-uri"];
  const named = sent["named-graph-uri"] ?? sent["using-named-graph-uri"];
  return { default_graph, timeout_ms, limit, base_iri, include_metadata, default_graphs: first, named_graphs: named };
}

/** The service defines the base of a query without BASE (SPARQL 1.1 Protocol, 2.1.6): the request URL. */
function based<T extends { readonly base_iri?: string | undefined }>(sent: T, { url }: Request): T {
  const { origin, pathname } = new URL(url);
  return { ...sent, base_iri: sent.base_iri ?? `${origin}${pathname}` };
}

function textOf(contentType: string, text: string): Pick<SparqlInput, "query" | "update"> {
  return contentType === types.update ? { update: text } : { query: text };
}

/** A client that disconnects ends the query; that is not an error of the server. */
async function answering(
  signal: AbortSignal,
  ask: () => Promise<SparqlAnswer>,
  accept: string | undefined,
): Promise<Answer<SparqlUpdated>> {
  try {
    return await resultAnswer(await ask(), accept);
  } catch (error) {
    if (PinakesError.isInstance(error) || !signal.aborted) throw error;
    throw new PinakesError("INVALID", "The client disconnected before the result was ready; send the request again.", {
      cause: error,
      retryable: true,
    });
  }
}

async function resultAnswer(answer: SparqlAnswer, accept: string | undefined): Promise<Answer<SparqlUpdated>> {
  if (answer.kind === "updated") return ok({ inserted: answer.inserted, removed: answer.removed });
  const { collections, collection_exists, missing } = answer;
  const more = { collections, collection_exists, missing };
  if (answer.kind === "quads") {
    const { value } = chooseType(accept, rdfOffers);
    return { headers: linked(more), ...(await rdfAnswer(writeRdf(answer.quads, { format: value }), value)) };
  }
  const { value } = chooseType(accept, answer.kind === "boolean" ? booleanOffers : offers);
  const inBody = value === json;
  return {
    status: 200,
    ...(inBody ? {} : { headers: linked(more) }),
    stream: await readAhead(writeSparqlResults(answer, value, inBody ? more : {})),
    contentType: withCharset(value),
  };
}
