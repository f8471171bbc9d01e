/** `pinakes search`: passages that answer a question, with where they stand. */
import type { Filter } from "../domain/filter.ts";
import { knowledgeLimits, type SearchHit, type SearchResult } from "../knowledge/index.ts";
import { defineCommand, splitList, type Group } from "./command.ts";
import { emphasised, snippet } from "./emphasis.ts";
import { count, inMs, oneLine, wrapped } from "./layout.ts";
import { actorOptions, readAddress, withStores } from "./session.ts";
import { printable, styled, type Terminal } from "./terminal.ts";

const modes = ["hybrid", "vector", "keyword", "graph"] as const;

const command = defineCommand({
  usage: "<question…>",
  words: [1, 1_000],
  summary: "find passages",
  details: "In all collections that the user may read, unless some are named. Several words need no quotes.",
  options: {
    in: { type: "string", value: "kb/papers,…", help: "only these collections" },
    mode: { type: "string", value: "MODE", help: `${modes.join(", ")} (hybrid)` },
    limit: { type: "string", value: "N", help: `how many, 1–${knowledgeLimits.searchHitsMax} (${knowledgeLimits.searchHitsDefault})` },
    filter: { type: "string", value: "JSON", help: `by metadata, such as '{"year":{"gt":1930}}'` },
    "min-score": { type: "string", value: "N", help: "nothing below" },
    "by-document": { type: "boolean", help: "the best passage of each document" },
    "as-of": { type: "string", value: "TIME", help: "as it was then: 2030-01-01T00:00:00Z" },
    archived: { type: "boolean", help: "archived collections, too" },
    full: { type: "boolean", help: "whole passages, not only the part around the words" },
    explain: { type: "boolean", help: "how the scores came about, and what was searched" },
    ...actorOptions,
  },
  examples: [
    "pinakes search 'how are numbers computed?'",
    "pinakes search relational model --in kb/papers --limit 3",
    `pinakes search pumps --filter '{"year":{"gte":1990}}' --mode keyword --json`,
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const query = call.words.join(" ");
    const named = given.text("in");
    const input = {
      query,
      mode: given.oneOf("mode", modes),
      limit: given.whole("limit", 1, knowledgeLimits.searchHitsMax),
      filter: given.json("filter") as Filter | undefined,
      min_score: given.number("min-score"),
      as_of: given.text("as-of"),
      archived: given.has("archived"),
      explain: given.has("explain"),
      ...(given.has("by-document") ? { group_by: "document" as const } : {}),
      ...(named === undefined ? {} : { collections: splitList(named).map(readAddress) }),
    };
    return withStores(call, async ({ knowledge, caller }) => {
      const result = await knowledge.search(caller, input);
      return { answer: result, show: () => text(terminal, query, result, given.has("full")) };
    });
  },
});

export const search: Group = { command };

function text(terminal: Terminal, query: string, { hits, mode_used, timings, explain }: SearchResult, full: boolean): string {
  const documents = new Set(hits.map(({ document_id }) => document_id)).size;
  const found = hits.length === 0 ? "Nothing was found" : `${count(hits.length, "passage")} of ${count(documents, "document")}`;
  const embedded = mode_used === "keyword" ? "" : `, ${inMs(timings.embed_ms)} of it for embedding the question`;
  const last = styled(terminal, "dim", `${found} (${mode_used}) in ${inMs(timings.total_ms)}${embedded}.`);
  const why = explain === undefined ? [] : [printable(JSON.stringify(explain, undefined, 2))];
  return [...hits.map((hit, i) => hitText(terminal, query, hit, i + 1, full)), ...why, last].join("\n\n");
}

const snippetCharsMax = 320;
const indent = "    ";
const linesOfText = 100;

function hitText(terminal: Terminal, query: string, hit: SearchHit, rank: number, full: boolean): string {
  const { citation, repository_id, collection_id, score, scores, explain } = hit;
  const place = [
    `${repository_id}/${collection_id}`,
    ...(citation.page === undefined ? [] : [`page ${citation.page}`]),
    ...(citation.section === undefined ? [] : [citation.section]),
  ].join(" · ");
  const shown = full ? oneLine(hit.text) : snippet(oneLine(hit.text), query, snippetCharsMax);
  const columns = Math.max(20, (terminal.columns ?? linesOfText) - indent.length);
  const lines = wrapped(shown, columns).map((line) => indent + emphasised(terminal, line, query));
  const parts = explain === undefined ? [] : [`${indent}${styled(terminal, "dim", oneLine(JSON.stringify({ scores, ...explain })))}`];
  const head = `${String(rank).padStart(2)}. ${styled(terminal, "bold", oneLine(citation.filename))}  ${styled(terminal, "dim", score.toFixed(3))}`;
  return [head, `${indent}${styled(terminal, "cyan", oneLine(place))}`, ...lines, ...parts].join("\n");
}
