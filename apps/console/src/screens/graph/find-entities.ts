/** Entities with the most triples, or those whose name contains a text. */
import type { Term } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import type { CollectionId } from "../../api/collections.ts";
import { askSparql, triplePage, type SparqlResult } from "../../api/graph.ts";
import { isProblem } from "../../api/problem.ts";
import { termOfBound, termText } from "../../api/terms.ts";

export interface FoundEntity {
  readonly term: Term;
  /** A name, or the matching text. */
  readonly text?: string | undefined;
  readonly triples?: number | undefined;
}

export interface FoundEntities {
  readonly entities: readonly FoundEntity[];
  /** Not all triples were counted. */
  readonly partly: boolean;
}

const foundMax = 100;
/** Counting a large graph takes long; falls back to the first triples. */
const countMsMax = 5_000;
const firstTriplesMax = 500;

export function entitiesOptions(id: CollectionId, words: string | undefined) {
  return queryOptions({
    queryKey: ["triples", id.rid, id.cid, "entities", words ?? ""],
    queryFn: ({ signal }): Promise<FoundEntities> =>
      words === undefined ? mostUsed(id, signal) : named(id, words, signal),
  });
}

const mostUsedQuery = `SELECT ?entity (COUNT(*) AS ?triples) (SAMPLE(?name) AS ?text) {
  { ?entity ?p ?o BIND(IF(isLiteral(?o) && REGEX(STR(?p), "(label|name|title)$", "i"), STR(?o), ?none) AS ?name) }
  UNION { ?s ?q ?entity FILTER(!isLiteral(?entity)) }
} GROUP BY ?entity ORDER BY DESC(?triples) LIMIT ${foundMax}`;

async function mostUsed(id: CollectionId, signal: AbortSignal): Promise<FoundEntities> {
  try {
    return {
      entities: rowsOf(await askSparql(id, mostUsedQuery, { union: true, timeoutMs: countMsMax, signal })),
      partly: false,
    };
  } catch (error) {
    if (!isProblem(error) || error.status === 401 || error.status === 403 || error.status === 404) throw error;
    return { entities: await firstOnes(id, signal), partly: true };
  }
}

async function firstOnes(id: CollectionId, signal: AbortSignal): Promise<readonly FoundEntity[]> {
  const { items } = await triplePage(id, {}, firstTriplesMax, signal);
  const counted = new Map<string, { readonly term: Term; triples: number }>();
  for (const { s } of items) {
    const key = termText(s);
    const known = counted.get(key);
    if (known === undefined) counted.set(key, { term: s, triples: 1 });
    else known.triples += 1;
  }
  return [...counted.values()].slice(0, foundMax).map(({ term }) => ({ term }));
}

async function named(id: CollectionId, words: string, signal: AbortSignal): Promise<FoundEntities> {
  const wanted = quoted(words.toLowerCase());
  const query = `SELECT ?entity (SAMPLE(?found) AS ?text) {
  { ?entity ?p ?found FILTER(isLiteral(?found) && CONTAINS(LCASE(STR(?found)), ${wanted})) }
  UNION { ?entity ?q ?any FILTER(isIRI(?entity) && CONTAINS(LCASE(STR(?entity)), ${wanted})) }
} GROUP BY ?entity ORDER BY ?entity LIMIT ${foundMax}`;
  return { entities: rowsOf(await askSparql(id, query, { union: true, signal })), partly: false };
}

function rowsOf(result: SparqlResult): readonly FoundEntity[] {
  if (result.kind !== "rows") return [];
  return result.rows.flatMap(({ entity, text, triples }) =>
    entity === undefined
      ? []
      : [
          {
            term: termOfBound(entity),
            text: text?.value,
            triples: triples === undefined ? undefined : Number(triples.value),
          },
        ],
  );
}

/** Escapes any text as a SPARQL literal. */
function quoted(words: string): string {
  const escapes: Readonly<Record<string, string>> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return `"${words.replaceAll(/["\\\n\r\t]/g, (character) => escapes[character] ?? "")}"`;
}
