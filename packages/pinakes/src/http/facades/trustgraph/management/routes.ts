/** The facade for clients of the source's librarian: one address for all operations on collections. */
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
      summary: "Collections of the caller's own repository, as the librarian of TrustGraph has them",
      description: `\`operation\` is ${managementOperations.join(", ")}. \`user\` may be absent, else it is the caller's id. A create of one that is there is a conflict. An update makes a collection that is not there, and changes what is named: "", [] and null clear. An archived one is no longer searched and not to be changed, until \`:unarchive\`. A delete needs \`confirm\`, the id again. A migration is of a collection in \`repository\` (the caller's own when absent), goes to \`target_collection\`, \`target_repository\` or both, and answers with a \`migration_id\`. A field that is not known, or is of another operation, is refused by its name; the source's own fields are taken with all of them. Errors are \`{ type, message }\`.`,
      tag: "collections",
      auth: "caller",
      readOnlyOk: true,
      // Checked by the librarian, whose clients know mistakes in the form of its answers only.
      body: z.unknown().meta(managementSchema()),
      answers: { 200: { description: "Done; with the records that it is about.", schema: Response } },
      errors: {
        400: refused("The request is wrong: invalid_request, invalid_operation."),
        401: refused("Nobody, or nobody known: unauthenticated."),
        403: refused("Not for the caller: forbidden."),
        404: refused("There is no such collection: not_found."),
        409: refused("It cannot be done as things are: conflict."),
        410: refused("It is gone for good: gone."),
        412: refused("Somebody else keeps changing it: precondition_failed."),
        413: refused("Too much: limit_exceeded."),
        415: refused("Not JSON: invalid_request."),
        429: refused("Too much at once: throttled."),
        500: refused("An error of ours: internal, corrupt."),
        501: refused("Not with these stores: not_supported."),
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
