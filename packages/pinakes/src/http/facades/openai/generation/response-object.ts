/** A response in the form of the API, and its inputs. */
import type { ChatUsage } from "../../../../ports/chat-model.ts";
import type { JsonObject } from "../../../../domain/json.ts";
import type { Metadata } from "../metadata.ts";
import type { FileCitation, FileSearch } from "./file-search.ts";
import type { Finish } from "./generate.ts";

/** The choices of the request, repeated in the response. */
export interface ResponseSettings {
  readonly model: string;
  readonly instructions: string | null;
  readonly max_output_tokens: number | null;
  readonly metadata: Metadata;
  readonly previous_response_id: string | null;
  readonly conversation: { readonly id: string } | null;
  readonly store: boolean;
  readonly temperature: number | null;
  readonly top_p: number | null;
  readonly tools: readonly FileSearch[];
  readonly tool_choice: unknown;
}

type Content =
  | {
      readonly type: "output_text";
      readonly text: string;
      readonly annotations: readonly FileCitation[];
      readonly logprobs: [];
    }
  | { readonly type: "refusal"; readonly refusal: string };

export interface OutputMessage {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly status: "in_progress" | "completed" | "incomplete";
  readonly content: readonly Content[];
}

export interface FileSearchCall {
  readonly id: string;
  readonly type: "file_search_call";
  readonly status: "in_progress" | "searching" | "completed";
  readonly queries: readonly string[];
  /** Stored completely; returned only on request. */
  readonly results: readonly object[] | null;
}

export type OutputItem = OutputMessage | FileSearchCall;

export interface ResponseObject extends ResponseSettings {
  readonly id: string;
  readonly object: "response";
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly background: false;
  readonly error: { readonly code: "server_error" | "rate_limit_exceeded"; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly output: readonly OutputItem[];
  readonly parallel_tool_calls: boolean;
  readonly reasoning: { readonly effort: null; readonly summary: null };
  readonly text: { readonly format: { readonly type: "text" } };
  readonly truncation: "disabled";
  readonly usage: object | null;
}

export function startedResponse(id: string, settings: ResponseSettings): ResponseObject {
  return {
    id,
    object: "response",
    created_at: Math.floor(Date.now() / 1_000),
    completed_at: null,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    ...settings,
    output: [],
    parallel_tool_calls: true,
    reasoning: { effort: null, summary: null },
    text: { format: { type: "text" } },
    truncation: "disabled",
    usage: null,
  };
}

export function finishedResponse(
  started: ResponseObject,
  output: readonly OutputItem[],
  finish: Finish,
  usage: ChatUsage | undefined,
): ResponseObject {
  return {
    ...started,
    completed_at: finish === "stop" ? Math.floor(Date.now() / 1_000) : null,
    status: finish === "stop" ? "completed" : "incomplete",
    incomplete_details:
      finish === "stop" ? null : { reason: finish === "length" ? "max_output_tokens" : "interrupted" },
    output,
    usage: usage === undefined ? null : responseUsage(usage),
  };
}

function responseUsage({ inputTokens, outputTokens }: ChatUsage): object {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}

/** Includes search results only on request: `include: ["file_search_call.results"]`. */
export function shownOutput(output: readonly OutputItem[], withResults: boolean): readonly OutputItem[] {
  return withResults ? output : output.map((item) => (item.type === "message" ? item : { ...item, results: null }));
}

export function shownResponse(response: ResponseObject, withResults: boolean): ResponseObject {
  return { ...response, output: shownOutput(response.output, withResults) };
}

/** As an item of a conversation: without results, which quote documents that other users of the workspace may not read. */
export function asItem(item: OutputItem): JsonObject {
  return shownOutput([item], false)[0] as unknown as JsonObject;
}
