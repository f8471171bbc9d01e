/** Answers over HTTP: as JSON, or as server-sent events. */
import type { AnswersApi, AskOptions } from "../api/knowledge-api.ts";
import { collectionsOf } from "../collection-ref.ts";
import type { AnswerEvent } from "../contract/answers.ts";
import { clientError } from "../errors.ts";
import type { Requester, RequestOptions } from "./request.ts";
import { eventsOf, problem } from "./sse.ts";

export function httpAnswers(http: Requester): AnswersApi {
  return {
    // The server has its own time limit, and a model may be paid for each attempt: nothing is repeated.
    ask: async (question, options = {}) =>
      http.json("POST", "/v1/answers", { ...requestOf(question, options), timeoutMs: undefined }),
    stream: async function* (question, options = {}) {
      const request = requestOf(question, options);
      yield* answerEvents(await http.stream("/v1/answers", { ...request, accept: "text/event-stream" }, "POST"));
    },
  };
}

function requestOf(question: string, { in: within, signal, ...options }: AskOptions): RequestOptions {
  return { body: { question, ...options, collections: collectionsOf(within) }, signal };
}

async function* answerEvents(response: Response): AsyncGenerator<AnswerEvent, void> {
  for await (const { event, data } of eventsOf(response)) {
    if (event === "problem") throw problem(data);
    const parsed = JSON.parse(data) as AnswerEvent;
    yield parsed;
    if (parsed.type === "answer") return;
  }
  throw clientError({
    code: "UNAVAILABLE",
    status: 0,
    detail: "The connection closed before the answer was complete. Try again.",
    retryable: true,
  });
}
