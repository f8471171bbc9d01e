/** Why somebody may or may not do something, over HTTP. */
import { z } from "zod";
import type { Knowledge } from "../../knowledge/index.ts";
import { defineRoute, ok, type Route } from "../kit/index.ts";

const Decision = z.object({ level: z.enum(["READ", "WRITE", "ADMIN"]).nullable(), reason: z.string(), groups: z.array(z.string()) }).meta({ id: "Decision" });

export function accessRoutes(knowledge: Knowledge): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/access:explain",
      operationId: "explainAccess",
      summary: "What a user may do with a repository or a collection, and why",
      description: "About oneself for everybody; about others for admins, who are also told why something is not visible.",
      tag: "access",
      auth: "caller",
      readOnlyOk: true,
      body: z.strictObject({
        repository: z.string(),
        collection: z.string().optional(),
        user: z.strictObject({ user_id: z.string(), groups: z.array(z.string()).optional() }).optional(),
      }),
      answers: { 200: { description: "The decision.", schema: Decision } },
      handler: async ({ caller, body }) => ok(await knowledge.explainAccess(caller, body.repository, body.collection, body.user)),
    }),
  ];
}
