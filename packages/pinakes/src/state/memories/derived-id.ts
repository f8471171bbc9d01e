/** Deterministic ids: the same for every repetition of a call. */
import { createHash } from "node:crypto";

/** In UUID format; version 8 is for custom derivations. */
export function derivedMessageId(parts: readonly (string | number)[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return `msg-${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
