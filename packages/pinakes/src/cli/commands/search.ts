/** `pinakes search`: chunks that answer a question, with their positions. */
import { searchModes, type Hit, type JsonObject, type SearchAnswer, type SearchOutcome } from "@pinakes/client";
import { knowledgeLimits, type SearchTarget } from "../../knowledge/index.ts";
import { withClient } from "../client-session.ts";
import { defineCommand, splitList, type Group } from "../terminal/command.ts";
import { emphasised, snippet } from "../terminal/emphasis.ts";
import { count, inMs, oneLine, wrapped } from "../terminal/layout.ts";
import { actorOptions, readAddress } from "../session.ts";
import { printable, styled, type Terminal } from "../terminal/terminal.ts";

const command = defineCommand({
  usage: "<question…>",
  words: [1, 1_000],
  summary: "find passages",
  details:
    "Searches all collections that the user may read, unless some are specified. Several words need no quotation marks.",
  options: {
    in: { type: "string", value: "kb,kb/papers,…", help: "only these repositories and collections" },
    mode: { type: "string", value: "MODE", help: `${searchModes.join(", ")} (hybrid)` },
    limit: {
      type: "string",
      value: "N",
      help: `maximum number of hits, 1–${knowledgeLimits.searchHitsMax} (${knowledgeLimits.searchHitsDefault}; of catalogs ${knowledgeLimits.catalogHitsDefault})`,
    },
    filter: { type: "string", value: "JSON", help: `filter by metadata, such as '{"year":{"gt":1930}}'` },
    "min-score": {
      type: "string",
      value: "N",
      help: "0–1: minimum score; 0 also shows hits that are too weak to answer the question",
    },
    "by-document": { type: "boolean", help: "the best chunk of each document" },
    "as-of": { type: "string", value: "TIME", help: "search the state at this time: 2030-01-01T00:00:00Z" },
    archived: { type: "boolean", help: "archived collections, too" },
    full: { type: "boolean", help: "whole chunks, not only the part around the matching words" },
    explain: { type: "boolean", help: "explain the scores and the scope of the search" },
    ...actorOptions,
  },
  examples: [
    "pinakes search 'how are numbers computed?'",
    "pinakes search relational model --in kb/papers --limit 3",
    "pinakes search relational model --in kb",
    `pinakes search pumps --filter '{"year":{"gte":1990}}' --mode keyword --json`,
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const query = call.words.join(" ");
    const named = given.text("in");
    const options = {
      mode: given.oneOf("mode", searchModes),
      limit: given.whole("limit", 1, knowledgeLimits.searchHitsMax),
      filter: given.json("filter") as JsonObject | undefined,
      min_score: given.number("min-score"),
      as_of: given.text("as-of"),
      archived: given.has("archived"),
      explain: given.has("explain"),
      ...(given.has("by-document") ? { group_by: "document" as const } : {}),
      ...(named === undefined ? {} : { in: splitList(named).map(readPlace) }),
    };
    return withClient(call, async ({ knowledge }) => {
      const result = await knowledge.search.query(query, options);
      return { answer: result, show: () => text(terminal, query, result, given.has("full")) };
    });
  },
});

export const search: Group = { command };

function text(
  terminal: Terminal,
  query: string,
  { hits, outcome, skipped = [], unknown_fields = [], warnings = [], mode_used, timings, explain }: SearchAnswer,
  full: boolean,
): string {
  const passages = hits.filter(({ citation }) => citation.row_id === undefined);
  const documents = new Set(passages.map(({ document_id }) => document_id)).size;
  const parts = [
    ...(passages.length === 0 ? [] : [`${count(passages.length, "passage")} of ${count(documents, "document")}`]),
    ...(passages.length === hits.length ? [] : [count(hits.length - passages.length, "row")]),
  ];
  const found = outcome === "ok" ? parts.join(" and ") : noAnswer[outcome];
  const embedded = mode_used === "keyword" ? "" : `, of which ${inMs(timings.embed_ms)} for embedding the question`;
  const last = styled(terminal, "dim", `${found} (${mode_used}) in ${inMs(timings.total_ms)}${embedded}.`);
  const why = explain === undefined ? [] : [printable(JSON.stringify(explain, undefined, 2))];
  const left = [
    ...skipped.map(
      ({ repository_id, collection_id, reason }) =>
        `${repository_id}/${collection_id} was not searched: ${oneLine(reason)}`,
    ),
    ...unknown_fields.map((field) => `No chunk has the field "${printable(field)}" of the filter.`),
    ...warnings.map(oneLine),
  ];
  return [
    ...hits.map((hit, i) => hitText(terminal, query, hit, i + 1, full)),
    ...why,
    ...left.map((line) => styled(terminal, "yellow", line)),
    last,
  ].join("\n\n");
}

const noAnswer: Readonly<Record<Exclude<SearchOutcome, "ok">, string>> = {
  empty: "There is nothing to search: no documents are indexed",
  indexing: "No hits yet: documents are still being indexed",
  no_match: "No relevant chunk found",
};

/** A collection, or a whole repository. */
export function readPlace(place: string): SearchTarget {
  return place.includes("/") ? readAddress(place) : { repository: place };
}

const snippetCharsMax = 320;
const indent = "    ";
const linesOfText = 100;

function hitText(terminal: Terminal, query: string, hit: Hit, rank: number, full: boolean): string {
  const { citation, repository_id, collection_id, score, scores, explain } = hit;
  const place = [
    `${repository_id}/${collection_id}`,
    ...(citation.page === undefined ? [] : [`page ${citation.page}`]),
    ...(citation.section === undefined ? [] : [citation.section]),
  ].join(" · ");
  const shown = full ? oneLine(hit.text) : snippet(oneLine(hit.text), query, snippetCharsMax);
  const columns = Math.max(20, (terminal.columns ?? linesOfText) - indent.length);
  const lines = wrapped(shown, columns).map((line) => indent + emphasised(terminal, line, query));
  const parts =
    explain === undefined
      ? []
      : [`${indent}${styled(terminal, "dim", oneLine(JSON.stringify({ scores, ...explain })))}`];
  const head = `${String(rank).padStart(2)}. ${styled(terminal, "bold", oneLine(citation.row_id === undefined ? citation.filename : `row ${citation.row_id}`))}  ${styled(terminal, "dim", score.toFixed(3))}`;
  return [head, `${indent}${styled(terminal, "cyan", oneLine(place))}`, ...lines, ...parts].join("\n");
}
