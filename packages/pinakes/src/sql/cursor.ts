/**
 * Cursors of queries. A cursor holds where to go on, never what was read, and is bound to tenant, container, query and parameters; it
 * also keeps the moment of the first page, so that GetCurrentDateTime is the same on all of them.
 */
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { shortHash, SignedTokens } from "../runtime/tokens.ts";
import type { CursorTokens } from "./types.ts";

/** Beyond this a value of ORDER BY or GROUP BY is too long to go on after. */
const cursorCharsMax = 65_536;

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

/** For callers without tokens of their own: the payload as it is, with a MAC that nobody else can make. */
export function keyedTokens(key: Uint8Array): CursorTokens {
  const tokens = new SignedTokens(key, { charsMax: cursorCharsMax });
  const binding = "pinakes query cursor\0";
  return {
    seal: (payload) => tokens.seal(binding, payload),
    open: (token) => {
      const payload = tokens.open(binding, token)?.payload;
      if (isJsonObject(payload)) return payload;
      throw invalid(
        "The cursor is not one that this store gave to you: it was changed, cut, or belongs elsewhere. Leave it out to begin anew.",
      );
    },
  };
}
