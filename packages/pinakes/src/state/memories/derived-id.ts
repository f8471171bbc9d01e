/** Ids that come out the same whenever the call that makes them is repeated. */
import { createHash } from "node:crypto";

/** The form of a UUID; version 8 is for those that are made of something. */
export function derivedMessageId(parts: readonly (string | number)[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return `msg-${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
