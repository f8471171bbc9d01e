/** Storage-management messages as TrustGraph's librarian sends them, for programs without a queue shared with this server. */
import { z } from "zod";
import { isJsonObject } from "../../../domain/json.ts";
import { invalid } from "../../../domain/errors.ts";
import { requireAdmin } from "../../../identity/index.ts";
import { storeClasses } from "../../../lifecycle/index.ts";
import type { Pinakes } from "../../../open.ts";
import { accepted, defineRoute, type Route } from "../../framework/index.ts";

const Message = z
  .looseObject({ operation: z.string(), user: z.string(), collection: z.string(), timestamp: z.string().optional() })
  .describe("As sent by TrustGraph; a timestamp is for information only.");

export function storageManagementRoutes({ lifecycle }: Pick<Pinakes, "lifecycle">): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/storage-management/{class}",
      operationId: "sendStorageManagement",
      summary: "Send a storage-management message of TrustGraph to all stores of a class",
      description:
        "The message is enqueued unchanged for each of these stores. Stores remove only what the catalog has marked as deleted; an unknown operation gets an error in the reply queue. Admins only.",
      tag: "operation",
      auth: "caller",
      params: z.object({ class: z.enum(storeClasses) }),
      body: Message,
      answers: {
        202: { description: "The message was enqueued.", schema: z.object({ queues: z.array(z.string()) }) },
      },
      handler: async ({ auth, params, body }) => {
        requireAdmin(auth);
        if (!isJsonObject(body)) throw invalid("The message must be an object of JSON values.");
        return accepted({ queues: await lifecycle.submit(params.class, body) });
      },
    }),
  ];
}
