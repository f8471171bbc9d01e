/** What an append returns and a read may carry: the write that the read must see. */
import { PinakesError, invalid } from "../../domain/errors.ts";

export interface SessionToken {
  readonly logId: string;
  readonly seq: number;
}

export function encodeToken({ logId, seq }: SessionToken): string {
  return Buffer.from(JSON.stringify([logId, seq]), "utf8").toString("base64url");
}

export function decodeToken(text: string): SessionToken {
  try {
    const [logId, seq] = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as [unknown, unknown];
    if (typeof logId === "string" && Number.isInteger(seq)) return { logId, seq: seq as number };
  } catch {
    // The error below covers it.
  }
  throw invalid("session: is not a token that an append returned.");
}

export function staleToken(): PinakesError {
  return new PinakesError(
    "CONFLICT",
    "session: the write of this token is no longer part of the collection (it was restored or repaired). Read without it.",
  );
}
