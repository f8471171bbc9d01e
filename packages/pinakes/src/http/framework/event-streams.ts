/** Counts open event streams, in total and per user. A further one is rejected before its first byte. */
import type { Caller } from "../../domain/caller.ts";
import type { Answer } from "./answer.ts";
import { HttpError } from "./http-error.ts";

export interface EventStreamLimits {
  readonly eventStreamsMax: number;
  readonly eventStreamsPerUserMax: number;
}

const retryAfterSeconds = 5;

export class EventStreams {
  readonly #limits: EventStreamLimits;
  readonly #open = new Map<string, number>();
  #sum = 0;

  constructor(limits: EventStreamLimits) {
    this.#limits = limits;
  }

  /** The same response; an event stream is counted until it ends. */
  async hold(caller: Caller | undefined, answer: Answer): Promise<Answer> {
    const { stream } = answer;
    if (!(stream instanceof ReadableStream) || answer.contentType !== "text/event-stream") return answer;
    const who = JSON.stringify([caller?.scope.tenant, caller?.userId]);
    const own = this.#open.get(who) ?? 0;
    const { eventStreamsMax, eventStreamsPerUserMax } = this.#limits;
    const reason =
      own >= eventStreamsPerUserMax
        ? `You have ${own} open event streams, the maximum; close one first.`
        : `There are ${this.#sum} open event streams, the maximum of this server.`;
    if (own >= eventStreamsPerUserMax || this.#sum >= eventStreamsMax) {
      await stream.cancel();
      throw new HttpError("THROTTLED", reason, { headers: { "retry-after": String(retryAfterSeconds) } });
    }
    this.#open.set(who, own + 1);
    this.#sum += 1;
    return { ...answer, stream: ending(stream, () => this.#ended(who)) };
  }

  #ended(who: string): void {
    const left = (this.#open.get(who) ?? 1) - 1;
    if (left === 0) this.#open.delete(who);
    else this.#open.set(who, left);
    this.#sum -= 1;
  }
}

/** The same bytes; `onEnd` is called exactly once, however the stream ends. */
function ending(stream: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let over = false;
  const end = (): void => {
    if (!over) onEnd();
    over = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel: (reason) => {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
