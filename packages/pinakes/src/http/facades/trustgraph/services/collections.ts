/**
 * collection-management: a response always has a time and a list of collections, each with all seven fields, and an error only if there is
 * one. In the older version an update changes the fields that are present; in the newer one it resets those that are absent. A delete needs
 * no confirmation here, since the clients' tools ask for it themselves; deleting a missing collection succeeds.
 */
import { hasCode, PinakesError } from "../../../../domain/errors.ts";
import { UnknownOperation, type Call, type Request } from "../call.ts";
import { integer, text } from "../fields.ts";
import { librarianListMax, managementOperations } from "../management/request.ts";
import type { ManagedCollection } from "../management/librarian.ts";
import { requireWriter, type Message, type Service, type ServiceDependencies } from "./service.ts";

const listedMax = 100_000;
const ofUpdate = ["collection", "name", "description", "tags"] as const;

export function collectionService({ librarian }: Pick<ServiceDependencies, "librarian">): Service {
  const manage = async (call: Call, body: Request) => {
    const { response, failure } = await librarian.attempt(call.caller, body);
    if (failure !== undefined) throw failure;
    return response;
  };
  const list = async (call: Call): Promise<readonly ManagedCollection[]> => {
    const limit = integer(call.request, "limit", { min: 0, max: listedMax, otherwise: 0 });
    const wanted = limit === 0 ? listedMax : limit;
    const { tag_filter } = call.request;
    const collections: ManagedCollection[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await manage(call, {
        operation: "list-collections",
        limit: Math.min(librarianListMax, wanted - collections.length),
        ...(Array.isArray(tag_filter) ? { tag_filter } : {}),
        ...(typeof cursor === "string" ? { cursor } : {}),
      });
      collections.push(...page.collections);
      cursor = page.next_cursor;
    } while (typeof cursor === "string" && collections.length < wanted);
    return collections;
  };
  const update = async (call: Call): Promise<readonly ManagedCollection[]> => {
    const reset = call.dialect === "new" ? { name: null, description: null, tags: null } : {};
    const named = Object.fromEntries(
      ofUpdate.flatMap((name) => (isGiven(call.request[name]) ? [[name, call.request[name]]] : [])),
    );
    return (await manage(call, { operation: "update-collection", ...reset, ...named })).collections;
  };
  const remove = async (call: Call): Promise<readonly ManagedCollection[]> => {
    const id = text(call.request, "collection");
    try {
      await manage(call, { operation: "delete-collection", collection: id, confirm: id });
    } catch (error) {
      if (!hasCode(error, "NOT_FOUND", "GONE")) throw error;
    }
    return [];
  };
  return async (call) => {
    const { operation } = call.request;
    if (operation === "list-collections") return answer(call, await list(call));
    if (typeof operation !== "string" || !managementOperations.some((one) => one === operation))
      throw new UnknownOperation("collection-management", operation);
    requireWriter(call);
    if (operation === "update-collection") return answer(call, await update(call));
    if (operation === "delete-collection") return answer(call, await remove(call));
    // Our own operations: create, archive and migrate, in the form of the document.
    const { user: _, workspace: __, ...body } = call.request;
    const { error: ___, ...response } = await manage(call, body);
    return { ...response };
  };
}

function answer({ dialect }: Call, collections: readonly ManagedCollection[]): Message {
  const success = dialect === "old" ? { success: "true" } : {};
  return { ...success, timestamp: new Date().toISOString(), collections };
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value !== "object" || Array.isArray(value)) return true;
  throw new PinakesError("INVALID", "name and description must be strings, tags a list of strings.");
}
