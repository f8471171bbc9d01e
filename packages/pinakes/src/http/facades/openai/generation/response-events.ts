/** The events of a response, in the order that clients rely on: https://platform.openai.com/docs/api-reference/responses-streaming. */
import { PinakesError } from "../../../../domain/errors.ts";
import type { ChatUsage } from "../../../../ports/chat-model.ts";
import { searchResults, type FileCitation } from "./file-search.ts";
import type { Finish, Generation } from "./generate.ts";
import {
  finishedResponse,
  shownOutput,
  shownResponse,
  type FileSearchCall,
  type OutputItem,
  type OutputMessage,
  type ResponseObject,
} from "./response-object.ts";

export type ResponseEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface Run {
  readonly started: ResponseObject;
  readonly generation: Generation;
  readonly question: string;
  readonly withResults: boolean;
  /** An error is an event of the stream; otherwise it is thrown, and has a status. */
  readonly streamed: boolean;
  readonly newId: (prefix: string) => string;
  /** Called with the finished response before it is sent to the client. */
  readonly keep: (response: ResponseObject) => Promise<void>;
}

/** The last event contains the whole response. Without sequence numbers; the stream adds them. */
export async function* responseEvents(run: Run, signal: AbortSignal): AsyncGenerator<ResponseEvent, ResponseObject> {
  const { started, withResults, keep } = run;
  yield { type: "response.created", response: started };
  yield { type: "response.in_progress", response: started };
  const output: OutputItem[] = [];
  try {
    if (run.generation.hits !== undefined) output.push(yield* searchEvents(run));
    const { message, finish, usage } = yield* messageEvents(run, output.length, signal);
    output.push(message);
    const whole = finishedResponse(started, output, finish, usage);
    await keep(whole);
    const response = shownResponse(whole, withResults);
    yield { type: finish === "stop" ? "response.completed" : "response.incomplete", response };
    return response;
  } catch (error) {
    if (!run.streamed || signal.aborted || !PinakesError.isInstance(error)) throw error;
    const failed = {
      ...started,
      status: "failed" as const,
      output: shownOutput(output, withResults),
      error: {
        code: error.code === "THROTTLED" ? ("rate_limit_exceeded" as const) : ("server_error" as const),
        message: error.detail,
      },
    };
    yield { type: "response.failed", response: failed };
    return failed;
  }
}

/** They are sent after the search, since its errors have their own status. */
function* searchEvents({ generation, question, withResults, newId }: Run): Generator<ResponseEvent, FileSearchCall> {
  const id = newId("fs");
  const common = { id, type: "file_search_call" as const, queries: [question] };
  const about = { item_id: id, output_index: 0 };
  yield {
    type: "response.output_item.added",
    output_index: 0,
    item: { ...common, queries: [], status: "in_progress", results: null },
  };
  yield { type: "response.file_search_call.in_progress", ...about };
  yield { type: "response.file_search_call.searching", ...about };
  yield { type: "response.file_search_call.completed", ...about };
  const call = { ...common, status: "completed" as const, results: searchResults(generation.hits ?? []) };
  yield { type: "response.output_item.done", output_index: 0, item: shownOutput([call], withResults)[0] };
  return call;
}

interface Written {
  readonly message: OutputMessage;
  readonly finish: Finish;
  readonly usage: ChatUsage | undefined;
}

async function* messageEvents(
  { generation, newId }: Run,
  output_index: number,
  signal: AbortSignal,
): AsyncGenerator<ResponseEvent, Written> {
  const id = newId("msg");
  const empty = {
    id,
    type: "message" as const,
    role: "assistant" as const,
    status: "in_progress" as const,
    content: [],
  };
  yield { type: "response.output_item.added", output_index, item: empty };
  const part = new Part(id, output_index);
  let finish: Finish = "interrupted";
  let usage: ChatUsage | undefined;
  for await (const step of generation.steps(signal)) {
    if ("finish" in step) ({ finish, usage } = step);
    else if ("refusal" in step) yield* part.refuse(step.refusal);
    else yield* part.add(step.text, step.annotations);
  }
  yield* part.end();
  const message = {
    ...empty,
    status: finish === "stop" ? ("completed" as const) : ("incomplete" as const),
    content: part.content,
  };
  yield { type: "response.output_item.done", output_index, item: message };
  return { message, finish, usage };
}

/** The single content part of a message: text with annotations, or a refusal. */
class Part {
  readonly #about: { readonly item_id: string; readonly output_index: number; readonly content_index: 0 };
  readonly #annotations: FileCitation[] = [];
  #text = "";
  #refusal: string | undefined;
  #begun = false;

  constructor(item_id: string, output_index: number) {
    this.#about = { item_id, output_index, content_index: 0 };
  }

  get content(): OutputMessage["content"] {
    return this.#refusal === undefined ? [this.#textPart()] : [{ type: "refusal", refusal: this.#refusal }];
  }

  *add(delta: string, annotations: readonly FileCitation[]): Generator<ResponseEvent, void> {
    if (!this.#begun) yield* this.#begin();
    this.#text += delta;
    yield { type: "response.output_text.delta", ...this.#about, delta, logprobs: [] };
    for (const annotation of annotations) {
      const annotation_index = this.#annotations.push(annotation) - 1;
      yield { type: "response.output_text.annotation.added", ...this.#about, annotation_index, annotation };
    }
  }

  *refuse(refusal: string): Generator<ResponseEvent, void> {
    this.#begun = true;
    this.#refusal = refusal;
    yield { type: "response.content_part.added", ...this.#about, part: { type: "refusal", refusal: "" } };
    yield { type: "response.refusal.delta", ...this.#about, delta: refusal };
    yield { type: "response.refusal.done", ...this.#about, refusal };
    yield { type: "response.content_part.done", ...this.#about, part: { type: "refusal", refusal } };
  }

  *end(): Generator<ResponseEvent, void> {
    if (this.#refusal !== undefined) return;
    if (!this.#begun) yield* this.#begin();
    yield { type: "response.output_text.done", ...this.#about, text: this.#text, logprobs: [] };
    yield { type: "response.content_part.done", ...this.#about, part: this.#textPart() };
  }

  *#begin(): Generator<ResponseEvent, void> {
    this.#begun = true;
    yield { type: "response.content_part.added", ...this.#about, part: this.#textPart() };
  }

  #textPart(): OutputMessage["content"][number] {
    return { type: "output_text", text: this.#text, annotations: [...this.#annotations], logprobs: [] };
  }
}
