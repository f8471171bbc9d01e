/**
 * Answers: a question, the chunks that a search finds for it, and sentences with verified citations (RFC 0018). The search decides what the
 * caller may read, and why nothing was found.
 */
import type { Answer, AnswerEvent, AnswerFinish, AnswerMode, AnswerSentence, RefusalReason } from "@pinakes/client";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { invalid, PinakesError, show } from "../domain/errors.ts";
import type { Slots } from "../domain/query-slots.ts";
import type { ChatModel, ChatModelInfo, ChatModels, ChatPiece } from "../ports/chat-model.ts";
import type { Embedder } from "../ports/embedder.ts";
import type { QueryMore, QueryWishes } from "../knowledge/collections/query-options.ts";
import type { CitationCheck, CitationToVerify } from "../knowledge/search/citations.ts";
import type { SearchInput } from "../knowledge/search/search-input.ts";
import type { Citation, SearchResult } from "../knowledge/search/search-result.ts";
import { ahead } from "./ahead.ts";
import { SentenceChecker } from "./check-sentence.ts";
import { checkConversation, converse, type ConversationInput } from "./conversation.ts";
import { extract } from "./extractive.ts";
import { generate } from "./generated.ts";
import { answerLimits, type AnswerLimits } from "./limits.ts";
import { fitSources } from "./prompt.ts";
import type { Writing } from "./writing.ts";

export interface AskInput
  extends
    Pick<SearchInput, "collections" | "filter" | "min_score" | "archived" | "limit">,
    Pick<QueryWishes, "unknown_collections"> {
  readonly question: string;
  readonly search_mode?: SearchInput["mode"];
  /** `generated` if a chat model is configured, else `extractive`. */
  readonly mode?: AnswerMode | undefined;
  /** The id of a chat model; the first by default. */
  readonly model?: string | undefined;
  readonly sentences_max?: number | undefined;
  readonly include_hits?: boolean | undefined;
}

interface AskOptions extends Writing {
  readonly signal?: AbortSignal | undefined;
}

/** An answer after its search, whose errors are thrown before; its events are produced during iteration. */
export interface BegunAnswer {
  readonly found: SearchResult & QueryMore;
  events(signal?: AbortSignal): AsyncGenerator<AnswerEvent, void>;
}

export interface AnswersDependencies {
  readonly search: {
    run(
      caller: Caller,
      input: SearchInput & QueryWishes,
      options: { readonly signal?: AbortSignal },
    ): Promise<SearchResult & QueryMore>;
    verifyCitations(
      caller: Caller,
      citations: readonly CitationToVerify[],
    ): Promise<{ readonly checks: readonly CitationCheck[] }>;
  };
  readonly chat: ChatModels | undefined;
  readonly embedders: { readonly defaultModel: string; get(model: string): Promise<Embedder> };
  readonly places: Pick<Slots, "answers"> | undefined;
  /** Overrides limits, for tests. */
  readonly limits?: AnswerLimits;
}

/** The context of one question, after its search. */
interface Asked {
  readonly caller: Caller;
  readonly input: AskInput;
  readonly mode: AnswerMode;
  readonly chat: ChatModel | undefined;
  readonly found: SearchResult & QueryMore;
  readonly writing: Writing;
  readonly signal: AbortSignal | undefined;
}

export class AnswersApi {
  readonly #deps: AnswersDependencies;
  readonly #limits: AnswerLimits;

  constructor(deps: AnswersDependencies) {
    this.#deps = deps;
    this.#limits = deps.limits ?? answerLimits;
  }

  async ask(caller: Caller, input: AskInput, options: AskOptions = {}): Promise<Answer> {
    for await (const event of this.stream(caller, input, options)) if (event.type === "answer") return event.answer;
    throw new PinakesError("INTERNAL", "The answer ended without its last event.");
  }

  /** `started`, each sentence once it is verified, and finally the whole answer. */
  async *stream(caller: Caller, input: AskInput, options: AskOptions = {}): AsyncGenerator<AnswerEvent, void> {
    yield* (await this.begin(caller, input, options)).events(options.signal);
  }

  async begin(caller: Caller, input: AskInput, { signal, ...writing }: AskOptions = {}): Promise<BegunAnswer> {
    const { tenant } = requireCaller(caller);
    checkInput(input, this.#limits);
    const { mode, chat } = await this.#modeOf(input);
    const { question, search_mode, limit = this.#limits.chunksDefault } = input;
    const { collections, filter, min_score, archived, unknown_collections } = input;
    const wishes = { collections, filter, min_score, archived, unknown_collections };
    const found = await this.#deps.search.run(
      caller,
      { query: question, mode: search_mode, limit, ...wishes },
      signal === undefined ? {} : { signal },
    );
    const places = found.outcome === "ok" ? this.#deps.places : undefined;
    const events = (until: AbortSignal) => {
      const make = () => this.#events({ caller, input, mode, chat, found, writing, signal: until });
      return places === undefined ? make() : places.answers.stream(tenant, make, until);
    };
    return { found, events: (until) => ahead(events, until) };
  }

  /** The configured chat models. */
  get models(): readonly ChatModelInfo[] {
    return this.#deps.chat?.models ?? [];
  }

  /** A conversation with a chat model, without documents. NOT_FOUND if the model is not configured. */
  async converse(
    caller: Caller,
    input: ConversationInput,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<ChatPiece, void>> {
    const { tenant } = requireCaller(caller);
    checkConversation(input, this.#limits);
    const { chat: models, places } = this.#deps;
    if (models === undefined)
      throw new PinakesError(
        "NOT_FOUND",
        "No chat model is configured (PINAKES_CHAT_MODELS, or the option chatModels).",
      );
    const chat = await models.get(input.model);
    const make = (until: AbortSignal) => converse(chat, input, this.#limits, until);
    return (signal) =>
      ahead(
        (until) => (places === undefined ? make(until) : places.answers.stream(tenant, () => make(until), until)),
        signal,
      );
  }

  async #modeOf({
    mode,
    model,
  }: AskInput): Promise<{ readonly mode: AnswerMode; readonly chat: ChatModel | undefined }> {
    const { chat } = this.#deps;
    const known = chat?.models.map(({ id }) => id) ?? [];
    if (mode === "extractive" && model !== undefined)
      throw invalid("model: an extractive answer uses no model; omit it, or use mode generated.");
    if (mode === "extractive" || (mode === undefined && model === undefined && known.length === 0))
      return { mode: "extractive", chat: undefined };
    if (chat === undefined || known.length === 0)
      throw invalid(
        "mode: no chat model is configured (PINAKES_CHAT_MODELS, or the option chatModels); use mode extractive.",
      );
    if (model !== undefined && !known.includes(model))
      throw invalid(`model: ${show(model)} is not configured; configured models: ${known.join(", ")}.`);
    return { mode: "generated", chat: await chat.get(model) };
  }

  async *#events(asked: Asked): AsyncGenerator<AnswerEvent, void> {
    const { mode, chat, found, signal } = asked;
    const began = performance.now();
    signal?.throwIfAborted();
    yield { type: "started", mode, model: chat?.model.id ?? null, outcome: found.outcome };
    const sentences: AnswerSentence[] = [];
    const written =
      found.outcome !== "ok" ? undefined : chat === undefined ? this.#quotes(asked) : this.#write(asked, chat);
    let finish: AnswerFinish = "complete";
    try {
      for (let next = await written?.next(); next !== undefined; next = await written?.next()) {
        if (next.done === true) {
          finish = next.value;
          break;
        }
        sentences.push(next.value);
        yield { type: "sentence", sentence: next.value };
      }
    } finally {
      await written?.return("cut_off");
    }
    yield { type: "answer", answer: answerOf(asked, sentences, finish, performance.now() - began) };
  }

  async *#quotes({ caller, input, found, signal }: Asked): AsyncGenerator<AnswerSentence, AnswerFinish> {
    const { extractiveSentencesDefault } = this.#limits;
    const quotes = await extract({
      question: input.question,
      hits: found.hits,
      sentencesMax: input.sentences_max ?? extractiveSentencesDefault,
      limits: this.#limits,
      embedder: input.search_mode === "keyword" ? undefined : await this.#embedder(),
      signal,
    });
    for (const citation of await this.#verified(caller, quotes))
      yield { text: citation.quote, supported: true, citations: [citation] };
    return "complete";
  }

  async *#write(
    { caller, input, found, writing, signal }: Asked,
    chat: ChatModel,
  ): AsyncGenerator<AnswerSentence, AnswerFinish> {
    const { contextTokensMax, citationsPerSentenceMax, sentencesMax } = this.#limits;
    const tokenizer = await (await this.#embedder()).tokenizer();
    const sources = fitSources(found.hits, tokenizer, contextTokensMax);
    const verify = (citations: readonly Citation[]) => this.#verified(caller, citations);
    return yield* generate({
      chat,
      question: input.question,
      sources,
      checker: new SentenceChecker(sources, verify, citationsPerSentenceMax),
      sentencesMax: input.sentences_max ?? sentencesMax,
      limits: this.#limits,
      writing,
      signal,
    });
  }

  /** Citations whose quotes are in the stored bytes. */
  async #verified(caller: Caller, citations: readonly Citation[]): Promise<readonly Citation[]> {
    if (citations.length === 0) return [];
    const { checks } = await this.#deps.search.verifyCitations(caller, citations);
    return citations.filter((_, i) => checks[i]?.valid === true);
  }

  #embedder(): Promise<Embedder> {
    return this.#deps.embedders.get(this.#deps.embedders.defaultModel);
  }
}

function checkInput({ question, limit, mode, sentences_max }: AskInput, limits: AnswerLimits): void {
  const { questionCharsMax, chunksMax, sentencesMax } = limits;
  const isWhole = (value: number, most: number) => Number.isInteger(value) && value >= 1 && value <= most;
  if (typeof question !== "string" || question.trim() === "" || question.length > questionCharsMax)
    throw invalid(`question: must be a string of 1–${questionCharsMax} characters.`);
  if (limit !== undefined && !isWhole(limit, chunksMax))
    throw invalid(`limit: must be a whole number of chunks from 1 to ${chunksMax}, got ${show(limit)}.`);
  if (sentences_max !== undefined && !isWhole(sentences_max, sentencesMax))
    throw invalid(`sentences_max: must be a whole number from 1 to ${sentencesMax}, got ${show(sentences_max)}.`);
  if (mode !== undefined && mode !== "extractive" && mode !== "generated")
    throw invalid(`mode: must be extractive or generated, got ${show(mode)}.`);
}

const messages: Readonly<Record<RefusalReason, string>> = {
  empty: "There is nothing to answer from: no documents are indexed here.",
  indexing: "Nothing was found yet: documents are still being indexed. Try again later.",
  no_match: "Nothing in the documents answers the question.",
};
const unsupported = "The model wrote nothing that the documents support.";
const unanswered = "The model found no answer in what the search found.";

function answerOf(
  { input, mode, chat, found }: Asked,
  sentences: readonly AnswerSentence[],
  finish: AnswerFinish,
  ms: number,
): Answer {
  const { outcome, skipped, unknown_fields, warnings, hits, timings } = found;
  const text = sentences.flatMap((one) => (one.supported ? [one.text] : [])).join(" ");
  const message =
    outcome !== "ok"
      ? messages[outcome]
      : sentences.length > 0
        ? unsupported
        : chat === undefined
          ? messages.no_match
          : unanswered;
  return {
    mode,
    model: chat?.model.id ?? null,
    text,
    sentences,
    ...(text === "" ? { refusal: { reason: outcome === "ok" ? ("no_match" as const) : outcome, message } } : {}),
    outcome,
    finish,
    ...(skipped === undefined ? {} : { skipped }),
    ...(unknown_fields === undefined ? {} : { unknown_fields }),
    ...(warnings === undefined ? {} : { warnings }),
    ...(input.include_hits === true ? { hits } : {}),
    timings: {
      search_ms: timings.total_ms,
      answer_ms: Math.round(ms * 1_000) / 1_000,
      total_ms: Math.round((timings.total_ms + ms) * 1_000) / 1_000,
    },
  };
}
