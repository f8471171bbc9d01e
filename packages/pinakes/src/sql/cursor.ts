/**
 * Cursors of queries. A cursor holds where to go on, never what was read, and is bound to tenant, container, query and parameters; it
 * also keeps the moment of the first page, so that GetCurrentDateTime is the same on all of them.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import type { CursorTokens } from "./types.ts";

/** Beyond this a value of ORDER BY or GROUP BY is too long to go on after. */
const cursorCharsMax = 65_536;
const macBytes = 16;

export interface CursorPayload {
  /** The plan that goes on. */
  readonly plan: string;
  readonly now: number;
  readonly state: JsonObject;
}

export function sealCursor(tokens: CursorTokens, binding: string, { plan, now, state }: CursorPayload): string {
  const token = tokens.seal({ b: binding, p: shortHash(plan), n: now, s: state });
  if (token.length > cursorCharsMax)
    throw invalid(
      "query: the values of ORDER BY or GROUP BY are too long for a cursor; order by a shorter property, or ask for all items in one page.",
    );
  return token;
}

export function openCursor(
  tokens: CursorTokens,
  binding: string,
  token: string,
): { readonly planHash: string; readonly now: number; readonly state: JsonObject } {
  const { b, p, n, s } = tokens.open(token);
  if (b !== binding || typeof p !== "string" || typeof n !== "number" || !isJsonObject(s))
    throw invalid(
      "The cursor belongs to another query; repeat the query and the parameters that it came from, or leave it out to begin anew.",
    );
  return { planHash: p, now: n, state: s };
}

export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** For callers without tokens of their own: the payload as it is, with a MAC that nobody else can make. */
export function keyedTokens(key: Uint8Array): CursorTokens {
  const mac = (body: Uint8Array) =>
    createHmac("sha256", key).update("pinakes query cursor\0").update(body).digest().subarray(0, macBytes);
  const refused = () =>
    invalid(
      "The cursor is not one that this store gave to you: it was changed, cut, or belongs elsewhere. Leave it out to begin anew.",
    );
  return {
    seal: (payload) => {
      const body = Buffer.from(JSON.stringify(payload), "utf8");
      return Buffer.concat([mac(body), body]).toString("base64url");
    },
    open: (token) => {
      if (typeof token !== "string" || token.length > cursorCharsMax) throw refused();
      const bytes = Buffer.from(token, "base64url");
      if (bytes.length <= macBytes || bytes.toString("base64url") !== token) throw refused();
      const body = bytes.subarray(macBytes);
      if (!timingSafeEqual(bytes.subarray(0, macBytes), mac(body))) throw refused();
      const payload: unknown = JSON.parse(body.toString("utf8"));
      if (!isJsonObject(payload)) throw refused();
      return payload;
    },
  };
}
