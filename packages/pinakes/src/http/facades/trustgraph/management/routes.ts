/** The facade for clients of TrustGraph's librarian: one address for all operations on collections. */
import { z } from "zod";
import type { Pinakes } from "../../../../open.ts";
import { defineRoute, type Route } from "../../../framework/index.ts";
import { Librarian } from "./librarian.ts";
import { managementOperations, managementSchema } from "./request.ts";

const Response = z
  .looseObject({
    error: z.object({ type: z.string(), message: z.string() }).nullable(),
    collections: z.array(
      z.object({
        user: z.string(),
        collection: z.string(),
        name: z.string(),
        description: z.string(),
        tags: z.array(z.string()),
        created_at: z.string(),
        updated_at: z.string(),
      }),
    ),
    timestamp: z.string(),
  })
  .meta({ id: "CollectionManagementResponse" });

const refused = (description: string) => ({ description, schema: Response });

export function managementRoutes({
  knowledge,
  migrations,
}: Pick<Pinakes, "knowledge" | "migrations">): readonly Route[] {
  const librarian = new Librarian(knowledge.collections, migrations);
  return [
    defineRoute({
      method: "POST",
      path: "/v1/collection-management",
      operationId: "manageCollections",
      summary: "Manage collections of the caller's own repository, in the format of TrustGraph's librarian",
      description: `\`operation\` is ${managementOperations.join(", ")}. \`user\` is optional; if present, it must be the caller's id. Creating an existing collection is a conflict. An update creates a missing collection, and changes the fields that are present: "", [] and null clear a field. An archived collection is not searched and cannot be changed until \`:unarchive\`. A delete requires \`confirm\`, the id again. A migration moves a collection of \`repository\` (default: the caller's own) to \`target_collection\`, \`target_repository\` or both, and returns a \`migration_id\`. Unknown fields, and fields of other operations, are rejected by name; TrustGraph's own fields are accepted with every operation. Errors are \`{ type, message }\`.`,
      tag: "collections",
      auth: "caller",
      readOnlyOk: true,
      // Validated by the librarian, whose clients only know errors in the form of its responses.
      body: z.unknown().meta(managementSchema()),
      answers: { 200: { description: "Success, with the affected records.", schema: Response } },
      errors: {
        400: refused("The request is invalid: invalid_request, invalid_operation."),
        401: refused("Missing or unknown credentials: unauthenticated."),
        403: refused("The caller lacks permission: forbidden."),
        404: refused("The collection does not exist: not_found."),
        409: refused("The operation conflicts with the current state: conflict."),
        410: refused("The collection was permanently removed: gone."),
        412: refused("Too many concurrent changes: precondition_failed."),
        413: refused("A limit was exceeded: limit_exceeded."),
        415: refused("Not JSON: invalid_request."),
        429: refused("Too many requests: throttled."),
        500: refused("Internal error: internal, corrupt."),
        501: refused("Not supported by these stores: not_supported."),
        503: refused("Try again later: unavailable."),
      },
      errorBody: (error) => librarian.refusal(error),
      handler: async ({ caller, auth, body }) => {
        const { status, response } = await librarian.manage(caller, body, {
          readOnly: auth.readOnly === true,
        });
        return { status, body: response };
      },
    }),
  ];
}
