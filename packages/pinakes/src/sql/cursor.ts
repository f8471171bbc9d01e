/**
 * Cursors of queries. A cursor contains the position to continue from, never data, and is bound to tenant, container, query and parameters.
 * It also contains the time of the first page, so that GetCurrentDateTime is the same on all pages.
 */
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { shortHash, SignedTokens } from "../runtime/tokens.ts";
import type { CursorTokens } from "./types.ts";

/** Longer values of ORDER BY or GROUP BY do not fit into a cursor. */
const cursorCharsMax = 65_536;

export interface CursorPayload {
  /** The plan to continue. */
  readonly plan: string;
  readonly now: number;
  readonly state: JsonObject;
}

export function sealCursor(tokens: CursorTokens, binding: string, { plan, now, state }: CursorPayload): string {
  const token = tokens.seal({ b: binding, p: shortHash(plan), n: now, s: state });
  if (token.length > cursorCharsMax)
    throw invalid(
      "query: the values of ORDER BY or GROUP BY are too long for a cursor; order by a shorter property, or request all items in one page.",
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
      "The cursor belongs to another query; repeat it with the same query and parameters, or omit it to start over.",
    );
  return { planHash: p, now: n, state: s };
}

/** For callers without their own tokens: the plain payload with a MAC. */
export function keyedTokens(key: Uint8Array): CursorTokens {
  const tokens = new SignedTokens(key, { charsMax: cursorCharsMax });
  const binding = "pinakes query cursor\0";
  return {
    seal: (payload) => tokens.seal(binding, payload),
    open: (token) => {
      const payload = tokens.open(binding, token)?.payload;
      if (isJsonObject(payload)) return payload;
      throw invalid(
        "The cursor is not valid here: it was modified, truncated, or belongs to another caller or store. Omit it to start over.",
      );
    },
  };
}
