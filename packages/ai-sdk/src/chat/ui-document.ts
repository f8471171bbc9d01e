/** A UI message as a message of a thread, and back. */
import {
  encodeId,
  isSameJson,
  PinakesClientError,
  type JsonObject,
  type Stored,
  type ThreadMessage,
} from "@pinakes/client";
import type { UIMessage } from "ai";

const messageKind = "ui-message";

/** The message as JSON, without `undefined` and with dates as strings. The same form is compared and stored. */
export function toDocument(message: UIMessage): JsonObject & { readonly id: string } {
  if (typeof message.id !== "string" || message.id === "") {
    throw new PinakesClientError({
      code: "INVALID",
      status: 400,
      detail:
        'A message without an id cannot be saved twice as one. Give the response one: toUIMessageStream({ generateMessageId: createIdGenerator({ prefix: "msg" }) }).',
    });
  }
  return {
    id: encodeId(message.id),
    kind: messageKind,
    role: message.role,
    message: JSON.parse(JSON.stringify(message)) as JsonObject,
  };
}

/** Undefined for messages that other programs added to the thread. */
export function fromDocument<Message extends UIMessage>(document: Stored<ThreadMessage>): Message | undefined {
  return document["kind"] === messageKind ? (document["message"] as unknown as Message) : undefined;
}

/** Not every engine preserves the order of properties, so it is ignored. */
export const isSameMessage = (stored: JsonObject, given: JsonObject): boolean =>
  isSameJson(stored["message"], given["message"]);
