/** Common parts of services. A response is one message, or a stream of messages on connections that support it. */
import { hasCode, PinakesError } from "../../../../domain/errors.ts";
import { personalAlias, type Knowledge } from "../../../../knowledge/index.ts";
import { UnknownOperation, type Call } from "../call.ts";
import type { Librarian } from "../management/librarian.ts";
import type { LiveTraffic } from "../live-traffic.ts";
import { noteChange } from "../../../../runtime/call-notes.ts";

export type Message = Readonly<Record<string, unknown>>;
export type Reply = Message | AsyncIterable<Message>;
export type Operation = (call: Call) => Promise<Reply>;
export type Service = (call: Call) => Promise<Reply>;

export interface ServiceDependencies {
  readonly knowledge: Knowledge;
  readonly librarian: Librarian;
  readonly live: LiveTraffic;
}

export function isStream(reply: Reply): reply is AsyncIterable<Message> {
  return Symbol.asyncIterator in reply;
}

/** A service whose requests name an operation. */
export function byOperation(
  service: string,
  {
    reads,
    writes,
  }: { readonly reads: Readonly<Record<string, Operation>>; readonly writes: Readonly<Record<string, Operation>> },
): Service {
  return async (call) => {
    const operation = call.request["operation"];
    if (typeof operation !== "string") throw new UnknownOperation(service, operation);
    if (Object.hasOwn(reads, operation)) return (reads[operation] as Operation)(call);
    if (!Object.hasOwn(writes, operation)) throw new UnknownOperation(service, operation);
    requireWriter(call);
    return (writes[operation] as Operation)(call);
  };
}

export function requireWriter({ readOnly, request }: Call): void {
  const { operation } = request;
  noteChange(typeof operation === "string" && /^[a-z-]{1,40}$/.test(operation) ? operation : "write");
  if (readOnly) throw new PinakesError("FORBIDDEN", "This key is read-only. Use one with write access.");
}

/** Loading into a missing collection creates it. */
export async function ensureCollection(
  { knowledge, librarian }: Pick<ServiceDependencies, "knowledge" | "librarian">,
  { caller }: Pick<Call, "caller">,
  collection: string,
): Promise<void> {
  try {
    await knowledge.collections.get(caller, personalAlias, collection);
  } catch (error) {
    if (!hasCode(error, "NOT_FOUND")) throw error;
    await librarian.ensure(caller, collection);
  }
}
