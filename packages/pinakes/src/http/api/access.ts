/** Explains access decisions over HTTP. */
import { accessLevels } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import { invalid } from "../../domain/errors.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { defineRoute, ok, type Route } from "../framework/index.ts";

const Decision = shape<wire.AccessDecision>()(
  z
    .object({
      level: z.enum(accessLevels).nullable().describe("null: the resource is not visible to the user."),
      reason: z.string().describe("The rule that decided."),
      groups: z.array(z.string()).describe("The user's groups that grant access."),
      document: z
        .object({
          document_id: z.string(),
          status: z.string(),
          uploaded_by: z.string(),
          searchable: z.boolean(),
          allowed_groups: z.array(z.string()).nullable(),
          allowed_users: z.array(z.string()).nullable(),
          sensitivity: z.array(z.string()),
        })
        .optional()
        .describe(
          "With `document`: the decision is that on the document, whose access may narrow that of its collection; searches return it once it is indexed.",
        ),
    })
    .meta({ id: "Decision" }),
);

export function accessRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/access:explain",
      operationId: "explainAccess",
      summary: "Explain what a user may do with a repository, collection or document",
      description:
        "Every user can ask about themselves. Admins can ask about other users, and also see why a resource is not visible.",
      tag: "access",
      auth: "caller",
      readOnlyOk: true,
      body: z.strictObject({
        repository: z.string(),
        collection: z.string().optional(),
        document: z.string().optional().describe("Id of the document; requires the collection."),
        user: z.strictObject({ user_id: z.string(), groups: z.array(z.string()).optional() }).optional(),
      }),
      answers: { 200: { description: "The decision.", schema: Decision } },
      handler: async ({ caller, body: { repository, collection, document, user } }) => {
        if (document !== undefined && collection === undefined)
          throw invalid("collection: is missing; a document is named with its collection.");
        if (document === undefined || collection === undefined)
          return ok(await knowledge.access.explain(caller, repository, collection, user));
        return ok(await knowledge.access.explainDocument(caller, repository, collection, document, user));
      },
    }),
  ];
}
