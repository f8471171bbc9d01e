/** Triples of a collection by pattern. A missing collection has none. */
import { hasCode } from "../../../../domain/errors.ts";
import { personalAlias, type Knowledge } from "../../../../knowledge/index.ts";
import type { Call } from "../call.ts";
import { integer, optionalText } from "../fields.ts";
import { readGraph, readTerm, writeTriple } from "../terms.ts";
import type { Message, Reply, Service, ServiceDependencies } from "./service.ts";

const limits = { min: 1, max: 100_000, otherwise: 10_000 };
const pageMax = 10_000;
const anyGraph = "*";

export function triplesService({ knowledge }: ServiceDependencies): Service {
  return async (call): Promise<Reply> => {
    const { request } = call;
    const term = (place: "s" | "p" | "o") =>
      request[place] === undefined || request[place] === null ? undefined : readTerm(request[place], place);
    const pattern = { s: term("s"), p: term("p"), o: term("o"), g: graphOf(call) };
    const limit = integer(request, "limit", limits);
    const collection = optionalText(request, "collection", "default");
    const pages = matches(knowledge, call, { collection, pattern, limit });
    if (!call.streams || request["streaming"] !== true) {
      const response: object[] = [];
      for await (const triples of pages) response.push(...triples);
      return { response };
    }
    return inBatches(pages, integer(request, "batch-size", { min: 1, max: pageMax, otherwise: 20 }));
  };
}

/** The older version has no graphs: all graphs are merged. In the newer one, no graph means the default graph. */
function graphOf({ typed, request }: Call) {
  const { g } = request;
  if (g === anyGraph || !typed) return undefined;
  return readGraph(g, "g");
}

interface Question {
  readonly collection: string;
  readonly pattern: Parameters<Knowledge["graph"]["matchTriples"]>[3];
  readonly limit: number;
}

async function* matches(
  { graph }: Pick<Knowledge, "graph">,
  { caller, typed }: Call,
  { collection, pattern, limit }: Question,
): AsyncGenerator<readonly object[]> {
  let left = limit;
  let cursor: string | undefined;
  do {
    const query = { ...pattern, limit: Math.min(left, pageMax), cursor };
    const page = await graph.matchTriples(caller, personalAlias, collection, query).catch((error: unknown) => {
      if (hasCode(error, "NOT_FOUND")) return { items: [], next_cursor: null };
      throw error;
    });
    left -= page.items.length;
    cursor = page.next_cursor ?? undefined;
    if (page.items.length > 0) yield page.items.map((triple) => writeTriple(triple, typed));
  } while (cursor !== undefined && left > 0);
}

/** At least one message, so that a client learns that there are no results. */
async function* inBatches(pages: AsyncIterable<readonly object[]>, size: number): AsyncGenerator<Message> {
  let any = false;
  for await (const triples of pages)
    for (let i = 0; i < triples.length; i += size) {
      any = true;
      yield { response: triples.slice(i, i + size) };
    }
  if (!any) yield { response: [] };
}
