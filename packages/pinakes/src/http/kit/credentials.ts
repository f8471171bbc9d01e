/** From headers to a caller: which credentials were sent, and what came of them. */
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { PinakesError } from "../../domain/errors.ts";
import type { Authenticated } from "../../identity/index.ts";

export interface Credentials {
  readonly bearer?: string;
  readonly sessionCookie?: string;
  readonly csrf?: string;
  readonly safeMethod: boolean;
}

export type { Authenticated };

/** Made by the identity layer. Throws UNAUTHENTICATED when the credentials are missing or not good. */
export type Authenticate = (credentials: Credentials) => Promise<Authenticated>;

export const sessionCookieNameDefault = "pinakes_session";
export const csrfHeader = "x-csrf-token";
const credentialCharsMax = 16_384;

export function readCredentials(c: Context, cookieName: string): Credentials {
  const authorization = c.req.header("authorization");
  const sessionCookie = getCookie(c, cookieName);
  const csrf = c.req.header(csrfHeader);
  const bearer = authorization === undefined || authorization.trim() === "" ? undefined : bearerOf(authorization);
  return {
    ...(bearer === undefined ? {} : { bearer }),
    ...(sessionCookie === undefined || sessionCookie === "" ? {} : { sessionCookie }),
    ...(csrf === undefined ? {} : { csrf }),
    safeMethod: isSafeMethod(c.req.method),
  };
}

export function isSafeMethod(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** What must never be in a log: the texts that prove who somebody is. */
export function secretsOf({ bearer, sessionCookie, csrf }: Credentials): readonly string[] {
  return [bearer, sessionCookie, csrf].filter((text) => text !== undefined);
}

function bearerOf(authorization: string): string {
  const found = /^Bearer +(\S+)$/i.exec(authorization.trim());
  if (found === null || authorization.length > credentialCharsMax)
    throw new PinakesError("UNAUTHENTICATED", 'Authorization: send "Bearer" and an API key or token, such as "Authorization: Bearer pk_…".');
  return found[1] as string;
}
