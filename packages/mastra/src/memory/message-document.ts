/** Messages of Mastra as documents, and back. */
import type { MastraDBMessage } from "@mastra/core/memory";
import type { Document } from "../container.ts";
import { isoTime, toJson } from "../json.ts";

export type MessageDocument = Document & {
  readonly threadId: string;
  readonly resourceId?: string;
  readonly createdAt: string;
  /** Orders messages of the same millisecond by when they were first saved. */
  readonly order: string;
};

/** The location of a message: callers that only know its id read this, which, unlike an index, is always consistent. */
export type PlaceDocument = Document & { readonly threadId: string; readonly order: string };

export function toDocument(message: MastraDBMessage, threadId: string, order: string): MessageDocument {
  const { id, role, type, createdAt, resourceId, content } = message;
  return {
    id,
    threadId,
    ...(resourceId === undefined || resourceId === null ? {} : { resourceId }),
    role: role ?? "user",
    ...(type === undefined ? {} : { type }),
    createdAt: isoTime(createdAt ?? new Date()),
    order,
    content: toJson(normalContent(content)),
  };
}

export function fromDocument(document: MessageDocument): MastraDBMessage {
  const { id, threadId, resourceId, role, type, createdAt, content } = document;
  return {
    id,
    threadId,
    ...(resourceId === undefined ? {} : { resourceId }),
    role: role as MastraDBMessage["role"],
    ...(type === undefined ? {} : { type: type as string }),
    createdAt: new Date(createdAt),
    content: content as unknown as MastraDBMessage["content"],
  };
}

/** Older callers pass strings. */
function normalContent(content: unknown): unknown {
  return typeof content === "string" ? { format: 2, content, parts: [{ type: "text", text: content }] } : content;
}

let counter = 0;

/** Grows with each call in a process, and with time between processes. */
export function nextOrder(): string {
  counter += 1;
  return `${String(Date.now()).padStart(15, "0")}-${String(counter).padStart(12, "0")}`;
}
