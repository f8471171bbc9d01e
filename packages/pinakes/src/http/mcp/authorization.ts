/**
 * OAuth at `/mcp`: Pinakes is a resource server. The metadata of RFC 9728 names the authorization servers, a challenge refers to the
 * metadata, and a token is accepted only for the audience configured for its issuer (identity/). API keys are bearer tokens as well.
 */
import type { Context, Hono } from "hono";
import type { Issuer } from "../../identity/index.ts";
import type { KitEnv } from "../framework/index.ts";

const metadataPath = "/.well-known/oauth-protected-resource";

export interface ResourceOptions {
  readonly issuers: readonly Issuer[];
  /** The server's public address; defaults to that of the request. */
  readonly publicUrl: string | undefined;
}

export function mountMetadata(app: Hono<KitEnv>, path: string, options: ResourceOptions): void {
  if (options.issuers.length === 0) return;
  const answer = (c: Context<KitEnv>): Response => {
    c.set("route", metadataPath);
    return Response.json(metadataOf(c.req.raw, path, options), {
      headers: { "cache-control": "public, max-age=300", "access-control-allow-origin": "*" },
    });
  };
  app.get(metadataPath, answer);
  app.get(`${metadataPath}${path}`, answer);
}

function metadataOf(request: Request, path: string, { issuers, publicUrl }: ResourceOptions) {
  const scopes = [...new Set(issuers.flatMap((one) => one.scopes))];
  return {
    resource: `${baseUrlOf(request, publicUrl)}${path}`,
    authorization_servers: issuers.map(({ issuer }) => issuer),
    bearer_methods_supported: ["header"],
    resource_name: "Pinakes",
    ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
  };
}

/** Challenge of a 401: tells the client where to get a token. Without issuers there are only keys, which need no discovery. */
export function challengeOf(
  request: Request,
  path: string,
  { issuers, publicUrl }: ResourceOptions,
  error?: string,
): string {
  const parts = ['realm="pinakes"', ...(error === undefined ? [] : [`error="${error}"`])];
  if (issuers.length > 0) parts.push(`resource_metadata="${metadataUrlOf(request, path, publicUrl)}"`);
  return `Bearer ${parts.join(", ")}`;
}

export function metadataUrlOf(request: Request, path: string, publicUrl: string | undefined): string {
  return `${baseUrlOf(request, publicUrl)}${metadataPath}${path}`;
}

export function baseUrlOf(request: Request, publicUrl: string | undefined): string {
  return publicUrl ?? new URL(request.url).origin;
}
