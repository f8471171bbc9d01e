/** Stored responses, each with its input items, and the chains that they form through `previous_response_id`. */
import type { Caller } from "../../../../domain/caller.ts";
import { invalid, PinakesError, show } from "../../../../domain/errors.ts";
import type { JsonObject } from "../../../../domain/json.ts";
import type { Knowledge } from "../../../../knowledge/index.ts";
import type { ConversationItem } from "../conversation-items.ts";
import type { ResponseObject } from "./response-object.ts";

/** Responses that refer to each other by `previous_response_id`. */
const chainMax = 100;
const idPattern = /^resp_[0-9a-f]{32}$/;

export interface StoredResponse {
  readonly response: ResponseObject;
  /** Its own input, without that of previous responses. */
  readonly input: readonly ConversationItem[];
}

export class StoredResponses {
  readonly #responses: Knowledge["responses"];

  constructor({ responses }: Pick<Knowledge, "responses">) {
    this.#responses = responses;
  }

  async put(caller: Caller, response: ResponseObject, input: readonly ConversationItem[]): Promise<void> {
    await this.#responses.put(caller, response.id, { response, input } as unknown as JsonObject);
  }

  async get(caller: Caller, id: string): Promise<StoredResponse> {
    if (!idPattern.test(id)) throw new PinakesError("NOT_FOUND", `There is no response ${show(id)}.`);
    return (await this.#responses.get(caller, id)) as unknown as StoredResponse;
  }

  async delete(caller: Caller, id: string): Promise<void> {
    await this.#responses.delete(caller, id);
  }

  /** The input items of a response, oldest first: those of the previous responses, and its own. */
  async inputOf(caller: Caller, id: string): Promise<readonly ConversationItem[]> {
    const { response, input } = await this.get(caller, id);
    const { previous_response_id: previous } = response;
    return [...(previous === null ? [] : await this.transcript(caller, previous)), ...input];
  }

  /** All items up to the end of a response, including its output. */
  async transcript(caller: Caller, id: string): Promise<readonly ConversationItem[]> {
    const parts: (readonly ConversationItem[])[] = [];
    for (let next: string | null = id; next !== null;) {
      if (parts.length >= chainMax)
        throw invalid(`previous_response_id: the chain has more than ${chainMax} responses; start a new one.`);
      const { response, input }: StoredResponse = await this.get(caller, next);
      parts.unshift([...input, ...(response.output as unknown as readonly ConversationItem[])]);
      next = response.previous_response_id;
    }
    return parts.flat();
  }
}
