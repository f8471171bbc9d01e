/** Requests to stores as TrustGraph's librarian sends them, for programs that have no queue in common with this server. */
import { z } from "zod";
import { isJsonObject } from "../../../domain/json.ts";
import { invalid } from "../../../domain/errors.ts";
import { requireAdmin } from "../../../identity/index.ts";
import { storeClasses } from "../../../lifecycle/index.ts";
import type { Pinakes } from "../../../open.ts";
import { accepted, defineRoute, type Route } from "../../framework/index.ts";

const Message = z
  .looseObject({ operation: z.string(), user: z.string(), collection: z.string(), timestamp: z.string().optional() })
  .describe("As TrustGraph sends it; a timestamp is information only.");

export function storageManagementRoutes({ lifecycle }: Pick<Pinakes, "lifecycle">): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/storage-management/{class}",
      operationId: "sendStorageManagement",
      summary: "A storage-management message of TrustGraph, to all stores of a class",
      description:
        "Put into the queues of these stores as it is. Stores remove only what the catalog has marked as deleted; an unknown operation gets a reply that says so in the queue of replies. For admins.",
      tag: "operation",
      auth: "caller",
      params: z.object({ class: z.enum(storeClasses) }),
      body: Message,
      answers: {
        202: { description: "In the queues.", schema: z.object({ queues: z.array(z.string()) }) },
      },
      handler: async ({ auth, params, body }) => {
        requireAdmin(auth);
        if (!isJsonObject(body)) throw invalid("The message must be an object of JSON values.");
        return accepted({ queues: await lifecycle.submit(params.class, body) });
      },
    }),
  ];
}
