/** Keys, sessions and the caller's identity, over HTTP. */
import { keyScopes, permissions, roles } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { pageOf, shape } from "../../contract/index.ts";
import type { Identity } from "../../identity/index.ts";
import { created, defineRoute, noContent, ok, type Route } from "../framework/index.ts";
import { sessionCookieNameDefault } from "../framework/credentials.ts";
import { id, Key, paging } from "./schemas.ts";

/** A command on this machine verifies that this server wrote its address file. */
export const challengeHeader = "x-pinakes-challenge";
export const proofHeader = "x-pinakes-proof";

const Me = shape<wire.Me, "key_id" | "expires_at" | "read_only" | "act_as" | "csrf_token">()(
  z
    .looseObject({
      user_id: z.string(),
      workspace_id: z.string(),
      groups: z.array(z.string()),
      role: z.enum(roles),
      permissions: z.array(z.enum(permissions)),
      via: z.string(),
    })
    .meta({ id: "Me" }),
);

export function identityRoutes(identity: Identity): readonly Route[] {
  return [...keyRoutes(identity), ...sessionRoutes(identity)];
}

function keyRoutes(identity: Identity): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/keys",
      operationId: "createKey",
      summary: "Create an API key; its secret is shown once",
      description:
        "Admins create keys for their own workspace; the root token for any workspace, which is created if new.",
      tag: "identity",
      auth: "caller",
      body: z.strictObject({
        user_id: z.string(),
        workspace_id: z.string().optional(),
        groups: z.array(z.string()).optional(),
        role: z.enum(roles).optional(),
        permissions: z
          .array(z.enum(permissions))
          .optional()
          .describe(
            "`purge`: may permanently remove what the user may delete. `audit`: may read the audit log. Admins have both.",
          ),
        name: z.string().optional(),
        expires_at: z.string().optional(),
        scopes: z.array(z.enum(keyScopes)).optional(),
        act_as: z
          .array(z.string())
          .optional()
          .describe(
            "Users of the workspace that TrustGraph's clients may name with this key, besides its own; up to 100.",
          ),
        account: z
          .boolean()
          .optional()
          .describe(
            "Also an account key (`account_key`) for clients of Cosmos DB at /cosmos; an admin unless `role` says otherwise.",
          ),
      }),
      answers: { 201: { description: "The key.", schema: Key } },
      handler: async ({ auth, body }) => created(await identity.keys.create(auth, body)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/keys",
      operationId: "listKeys",
      summary: "List the keys of a workspace, without secrets",
      tag: "identity",
      auth: "caller",
      query: z.object({
        ...paging,
        workspace_id: z.string().optional().describe("With the root token: the workspace of the keys."),
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Key) } },
      handler: async ({ auth, query }) => {
        const { items, cursor } = await identity.keys.list(auth, query);
        return ok({ items, next_cursor: cursor ?? null });
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/keys/{kid}",
      operationId: "revokeKey",
      summary: "Revoke a key immediately",
      tag: "identity",
      auth: "caller",
      params: z.object({ kid: id.describe("Id of the key.") }),
      query: z.object({ workspace_id: z.string().optional().describe("Only if the key belongs to this workspace.") }),
      answers: { 204: { description: "The key is revoked." } },
      handler: async ({ auth, params, query }) => {
        await identity.keys.revoke(auth, params.kid, query);
        return noContent();
      },
    }),
  ];
}

function sessionRoutes(identity: Identity): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: "/v1/sessions",
      operationId: "createSession",
      summary: "Sign in from a browser with the printed root token or an API key",
      tag: "identity",
      auth: "public",
      audit: "sign_in",
      body: z.strictObject({ token: z.string() }),
      answers: {
        201: {
          description: "A cookie, and the token that write requests must send as X-CSRF-Token.",
          schema: z.looseObject({ csrf_token: z.string() }),
        },
      },
      handler: async ({ body }) => {
        const { cookie, csrf, expiresAt } = await identity.sessions.create({ token: body.token });
        const expires = new Date(expiresAt);
        return created(
          { csrf_token: csrf, expires_at: expires.toISOString() },
          { cookie: sessionCookie(cookie, expires) },
        );
      },
    }),
    defineRoute({
      method: "DELETE",
      path: "/v1/sessions",
      operationId: "endSession",
      summary: "Sign out",
      tag: "identity",
      auth: "caller",
      readOnlyOk: true,
      audit: "sign_out",
      answers: { 204: { description: "The session has ended." } },
      handler: async ({ header }) => {
        const cookie = cookieValue(header("cookie"));
        if (cookie !== undefined) await identity.sessions.end(cookie);
        return noContent({ cookie: sessionCookie("", new Date(0)) });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/me",
      operationId: "getMe",
      summary: "Get the identity of the caller",
      tag: "identity",
      auth: "caller",
      answers: { 200: { description: "User, workspace, groups and role.", schema: Me } },
      handler: ({ auth, header }) => {
        const challenge = header(challengeHeader);
        const proof = auth.via === "local" && challenge !== undefined ? identity.proveServer(challenge) : undefined;
        return ok(identity.me(auth), proof === undefined ? {} : { headers: { [proofHeader]: proof } });
      },
    }),
  ];
}

/** Not `Secure`: the server itself speaks plain HTTP, on the local machine; a proxy with TLS adds it. */
function sessionCookie(value: string, expires: Date): string {
  return `${sessionCookieNameDefault}=${value}; Path=/; HttpOnly; SameSite=Strict; Expires=${expires.toUTCString()}`;
}

export function cookieValue(header: string | undefined): string | undefined {
  const found = header?.split(/;\s*/).find((part) => part.startsWith(`${sessionCookieNameDefault}=`));
  return found?.slice(sessionCookieNameDefault.length + 1);
}
