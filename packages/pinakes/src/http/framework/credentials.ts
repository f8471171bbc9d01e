/** Derives the caller from headers: which credentials were sent, and the result. */
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { socketAddress } from "./context.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Authenticated } from "../../identity/index.ts";

export interface Credentials {
  readonly bearer?: string;
  readonly sessionCookie?: string;
  readonly csrf?: string;
  readonly safeMethod: boolean;
  /** The peer is this machine, and no proxy forwarded the request. */
  readonly fromLoopback: boolean;
}

export type { Authenticated };

/** Provided by the identity layer. Throws UNAUTHENTICATED if the credentials are missing or invalid. */
export type Authenticate = (credentials: Credentials) => Promise<Authenticated>;

export const sessionCookieNameDefault = "pinakes_session";
export const csrfHeader = "x-csrf-token";
const credentialCharsMax = 16_384;

/** What a route of a facade accepts besides bearer tokens; see `RouteDeclaration`. */
interface CredentialForms {
  readonly lenient?: boolean;
  readonly basicOk?: boolean;
}

export function readCredentials(c: Context, cookieName: string, forms: CredentialForms = {}): Credentials {
  const authorization = c.req.header("authorization") ?? (forms.lenient === true ? c.req.header("api-key") : undefined);
  const sessionCookie = getCookie(c, cookieName);
  const csrf = c.req.header(csrfHeader);
  const bearer =
    authorization === undefined || authorization.trim() === "" ? undefined : bearerOf(authorization, forms);
  return {
    ...(bearer === undefined ? {} : { bearer }),
    ...(sessionCookie === undefined || sessionCookie === "" ? {} : { sessionCookie }),
    ...(csrf === undefined ? {} : { csrf }),
    safeMethod: isSafeMethod(c.req.method),
    fromLoopback: isLoopback(socketAddress(c)) && !proxyHeaders.some((name) => c.req.header(name) !== undefined),
  };
}

/** A proxy on this machine also connects over loopback, on behalf of any client. */
const proxyHeaders = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/** The same for a request that opens a socket. */
export function loopbackOf({ socket, headers }: IncomingMessage): boolean {
  return isLoopback(socket.remoteAddress ?? "") && !proxyHeaders.some((name) => headers[name] !== undefined);
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address);
}

export function isSafeMethod(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** Secrets that must never be logged. */
export function secretsOf({ bearer, sessionCookie, csrf }: Credentials): readonly string[] {
  return [bearer, sessionCookie, csrf].filter((text) => text !== undefined);
}

/** The password of Basic credentials; the user name is ignored. */
export function basicKeyOf(authorization: string): string | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]{1,16384})$/i.exec(authorization.trim()) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const key = text.slice(text.indexOf(":") + 1);
  return key === "" || /\s/.test(key) ? undefined : key;
}

function bearerOf(authorization: string, { lenient = false, basicOk = false }: CredentialForms): string {
  const key = basicOk ? basicKeyOf(authorization) : undefined;
  if (key !== undefined) return key;
  const found = (lenient ? /^(?:Bearer +)?(\S+)$/i : /^Bearer +(\S+)$/i).exec(authorization.trim());
  if (found === null || authorization.length > credentialCharsMax)
    throw new PinakesError(
      "UNAUTHENTICATED",
      'Authorization: send "Bearer" and an API key or token, such as "Authorization: Bearer pk_…".',
    );
  return found[1] as string;
}
