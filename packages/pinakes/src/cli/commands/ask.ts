/** `pinakes ask`: an answer with verified citations. */
import { answerModes, type Answer, type AnswerFinish, type Citation, type JsonObject } from "@pinakes/client";
import { answerLimits } from "../../knowledge/index.ts";
import { withClient } from "../client-session.ts";
import { actorOptions } from "../session.ts";
import { defineCommand, splitList, type Group } from "../terminal/command.ts";
import { oneLine, wrapped } from "../terminal/layout.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";
import { readPlace } from "./search.ts";

const { chunksDefault, chunksMax, sentencesMax } = answerLimits;

const command = defineCommand({
  usage: "<question…>",
  words: [1, 1_000],
  summary: "answer a question, with citations",
  details:
    "Searches all collections that the user may read, unless some are specified. Without a chat model (PINAKES_CHAT_MODELS) the answer consists of quotes. Several words need no quotation marks.",
  options: {
    in: { type: "string", value: "kb,kb/papers,…", help: "only these repositories and collections" },
    mode: { type: "string", value: "MODE", help: "extractive, or generated (if a chat model is configured)" },
    model: { type: "string", value: "ID", help: "the chat model (default: the first)" },
    limit: { type: "string", value: "N", help: `chunks to answer from, 1–${chunksMax} (${chunksDefault})` },
    sentences: { type: "string", value: "N", help: `maximum number of sentences, 1–${sentencesMax}` },
    filter: { type: "string", value: "JSON", help: `filter by metadata, such as '{"year":{"gt":1930}}'` },
    "min-score": { type: "string", value: "N", help: "0–1: ignore chunks with a lower score" },
    archived: { type: "boolean", help: "archived collections, too" },
    ...actorOptions,
  },
  examples: [
    "pinakes ask 'when is the pump serviced?'",
    "pinakes ask who signed the contract --in kb/papers --mode extractive",
  ],
  run: async (call) => {
    const { given, terminal } = call;
    const named = given.text("in");
    const options = {
      mode: given.oneOf("mode", answerModes),
      model: given.text("model"),
      limit: given.whole("limit", 1, chunksMax),
      sentences_max: given.whole("sentences", 1, sentencesMax),
      filter: given.json("filter") as JsonObject | undefined,
      min_score: given.number("min-score"),
      archived: given.has("archived"),
      ...(named === undefined ? {} : { in: splitList(named).map(readPlace) }),
    };
    return withClient(call, async ({ knowledge }) => {
      const answer = await knowledge.answers.ask(call.words.join(" "), { ...options, signal: terminal.signal });
      return { answer, show: () => text(terminal, answer) };
    });
  },
});

export const ask: Group = { command };

const linesOfText = 100;
const cutShort: Readonly<Record<Exclude<AnswerFinish, "complete">, string>> = {
  length: "The answer was cut off at its length limit.",
  time: "The model timed out; the answer is incomplete.",
  cut_off: "The connection to the model was lost; the answer is incomplete.",
};

/** Sentences with the numbers of their citations, followed by the quotes. */
function text(
  terminal: Terminal,
  { sentences, refusal, mode, model, finish, skipped = [], warnings = [] }: Answer,
): string {
  const columns = Math.max(20, terminal.columns ?? linesOfText);
  const numbers = new Map<string, { readonly number: number; readonly citation: Citation }>();
  const numberOf = (citation: Citation): number => {
    const key = JSON.stringify(citation);
    const known = numbers.get(key) ?? { number: numbers.size + 1, citation };
    numbers.set(key, known);
    return known.number;
  };
  const lines = sentences.flatMap(({ text: sentence, supported, citations }) => {
    const marks = supported ? citations.map((citation) => `[${numberOf(citation)}]`).join("") : "(not supported)";
    return wrapped(`${oneLine(sentence)} ${marks}`, columns).map((line) =>
      supported ? line : styled(terminal, "dim", line),
    );
  });
  const sources = [...numbers.values()].flatMap(({ number, citation }) => [
    `[${number}] ${styled(terminal, "bold", placeOf(citation))}`,
    ...wrapped(`“${oneLine(citation.quote)}”`, columns - 4).map((line) => `    ${line}`),
  ]);
  const notes = [
    ...(refusal === undefined ? [] : [refusal.message]),
    ...(finish === "complete" ? [] : [cutShort[finish]]),
    ...skipped.map(
      ({ repository_id, collection_id, reason }) =>
        `${repository_id}/${collection_id} was not searched: ${oneLine(reason)}`,
    ),
    ...warnings.map(oneLine),
  ];
  const by = styled(
    terminal,
    "dim",
    model === null ? `${mode}: quotes of the documents` : `${mode} by ${oneLine(model)}`,
  );
  return [lines, sources, notes.map((note) => styled(terminal, "yellow", note)), [by]]
    .filter((part) => part.length > 0)
    .map((part) => part.join("\n"))
    .join("\n\n");
}

function placeOf({ repository_id, collection_id, filename, row_id, page, section }: Citation): string {
  const parts = [
    `${repository_id}/${collection_id}`,
    row_id === undefined ? filename : `row ${row_id}`,
    ...(page === undefined ? [] : [`page ${page}`]),
    ...(section === undefined ? [] : [section]),
  ];
  return oneLine(parts.join(" · "));
}
