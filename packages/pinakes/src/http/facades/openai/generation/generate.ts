/**
 * Generates text with a chat model: from vector stores with verified citations, or without documents. The same steps serve both cases, and
 * both APIs.
 */
import type { Caller } from "../../../../domain/caller.ts";
import { PinakesError, show } from "../../../../domain/errors.ts";
import { answerLimits, type Knowledge, type SearchHit } from "../../../../knowledge/index.ts";
import type { ChatUsage } from "../../../../ports/chat-model.ts";
import { parseFilter } from "../filters.ts";
import { withFilter } from "../search.ts";
import type { Stores } from "../stores.ts";
import { annotationsOf, type FileCitation, type FileSearch } from "./file-search.ts";
import type { Conversation } from "./messages.ts";

export interface GenerationRequest extends Conversation {
  readonly model: string | undefined;
  readonly search: FileSearch | undefined;
  readonly tokensMax: number | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
}

export type Step =
  | { readonly text: string; readonly annotations: readonly FileCitation[] }
  | { readonly refusal: string }
  | { readonly finish: Finish; readonly usage: ChatUsage | undefined };
/** `interrupted`: the model stopped early; the text so far remains. */
export type Finish = "stop" | "length" | "interrupted";

export interface Generation {
  readonly model: string;
  /** The hits; undefined without a search. */
  readonly hits: readonly SearchHit[] | undefined;
  /** Each text once it is complete, and finally `finish`. */
  steps(signal: AbortSignal): AsyncGenerator<Step, void>;
}

interface Asking {
  readonly knowledge: Knowledge;
  readonly stores: Stores;
  readonly caller: Caller;
  readonly project: string;
  readonly signal: AbortSignal;
}

/** Runs after the search: errors of the request are thrown here, before the first byte of the response. */
export async function beginGeneration(asking: Asking, request: GenerationRequest): Promise<Generation> {
  const model = requireModel(asking.knowledge, request.model);
  return request.search === undefined
    ? withoutDocuments(asking, request, model)
    : fromStores(asking, request, request.search, model);
}

function requireModel({ answers: { models } }: Knowledge, wanted: string | undefined): string {
  const found = wanted === undefined ? models[0] : models.find(({ id }) => id === wanted);
  if (found !== undefined) return found.id;
  const there =
    models.length === 0
      ? "no chat model is configured: set PINAKES_CHAT_MODELS, or the option chatModels"
      : `available models: ${models.map(({ id }) => id).join(", ")}`;
  throw new PinakesError("NOT_FOUND", `model: the chat model ${show(wanted ?? null)} is not available; ${there}.`, {
    reason: "model_not_found",
  });
}

async function withoutDocuments(asking: Asking, request: GenerationRequest, model: string): Promise<Generation> {
  const { instructions, history, question: text, tokensMax, temperature, topP } = request;
  const input = { model, instructions, history, text, tokensMax, temperature, topP };
  const pieces = await asking.knowledge.answers.converse(asking.caller, input);
  return {
    model,
    hits: undefined,
    async *steps(signal) {
      for await (const piece of pieces(signal))
        if ("text" in piece) yield { text: piece.text, annotations: [] };
        else return yield { finish: piece.end === "other" ? "interrupted" : piece.end, usage: piece.usage };
      yield { finish: "interrupted", usage: undefined };
    },
  };
}

async function fromStores(
  { knowledge, stores, caller, project, signal }: Asking,
  { question, instructions, history, tokensMax, temperature, topP }: GenerationRequest,
  { vector_store_ids, filters, max_num_results, ranking_options }: FileSearch,
  model: string,
): Promise<Generation> {
  const found = await Promise.all([...new Set(vector_store_ids)].map((id) => stores.getActive(caller, project, id)));
  const filter = filters === undefined || filters === null ? undefined : parseFilter(filters);
  let usage: ChatUsage | undefined;
  const input = {
    question,
    model,
    collections: found.map(({ repository, collection }) => ({ repository, collection: collection.collection_id })),
    limit: Math.min(max_num_results ?? answerLimits.chunksDefault, answerLimits.chunksMax),
    min_score: ranking_options?.score_threshold,
  };
  const writing = {
    instructions,
    history: newest(history, historyCharsMax),
    tokensMax,
    temperature,
    topP,
    onUsage: (counted: ChatUsage) => {
      usage = counted;
    },
  };
  const begun = await withFilter(
    filter,
    (wanted) => knowledge.answers.begin(caller, { ...input, filter: wanted }, { signal, ...writing }),
    (each) => each.found.unknown_fields,
  );
  if (begun === undefined) return { model, hits: [], steps: noFile };
  const { hits } = begun.found;
  return {
    model,
    hits,
    async *steps(until) {
      let length = 0;
      for await (const event of begun.events(until))
        if (event.type === "sentence" && event.sentence.supported) {
          const text = `${length === 0 ? "" : " "}${event.sentence.text}`;
          length += text.length;
          yield { text, annotations: annotationsOf(event.sentence.citations, hits, length) };
        } else if (event.type === "answer") {
          const { refusal, finish } = event.answer;
          if (refusal !== undefined) yield { refusal: refusal.message };
          yield { finish: finish === "complete" ? "stop" : finish === "length" ? "length" : "interrupted", usage };
        }
    },
  };
}

/** Besides the sources, on which the answer is based. */
const historyCharsMax = 16_000;

function newest<Message extends { readonly text: string }>(
  messages: readonly Message[],
  charsMax: number,
): readonly Message[] {
  let left = charsMax;
  const first = messages.findLastIndex(({ text }) => (left -= text.length) < 0);
  return messages.slice(first + 1);
}

async function* noFile(): AsyncGenerator<Step, void> {
  yield { refusal: "No file of the vector stores matches the filters." };
  yield { finish: "stop", usage: undefined };
}
