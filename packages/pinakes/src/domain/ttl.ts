/**
 * Time to live, exactly as Cosmos DB defines it.
 *
 * | container default | item ttl absent | item ttl -1 | item ttl n            |
 * |-------------------|-----------------|-------------|-----------------------|
 * | null (off)        | never           | never       | never (ttl ignored)   |
 * | -1                | never           | never       | n s after last change |
 * | n                 | n s after       | never       | item's n s after      |
 *
 * Only the inputs are stored, so a changed container default applies to existing items too.
 */
import { invalid, show } from "./errors.ts";
import type { JsonValue } from "./json.ts";
import { limits } from "./limits.ts";

export type ContainerTtl = number | null;

/** When the item becomes invisible (epoch ms), or null for never. */
export function expiresAt(containerTtl: ContainerTtl, itemTtl: number | null, modifiedAt: number): number | null {
  if (containerTtl === null) return null;
  const seconds = itemTtl ?? containerTtl;
  return seconds === -1 ? null : modifiedAt + seconds * 1000;
}

export function isExpired(
  containerTtl: ContainerTtl,
  itemTtl: number | null,
  modifiedAt: number,
  now: number,
): boolean {
  const at = expiresAt(containerTtl, itemTtl, modifiedAt);
  return at !== null && at <= now;
}

/** The `ttl` property of a document: absent, -1, or 1…2^31-1 seconds. */
export function checkItemTtl(ttl: JsonValue | undefined): number | null {
  if (ttl === undefined) return null;
  if (isTtlSeconds(ttl)) return ttl;
  throw invalid(
    `ttl: must be -1 (never) or a whole number of seconds from 1 to ${limits.ttlSecondsMax}, got ${show(ttl)}; omit it to use the container's default.`,
  );
}

export function checkContainerTtl(ttl: number | null | undefined): ContainerTtl {
  if (ttl === undefined || ttl === null) return null;
  if (isTtlSeconds(ttl)) return ttl;
  throw invalid(
    `The container's ttl must be null (off), -1 (only items with their own ttl expire) or seconds from 1 to ${limits.ttlSecondsMax}, got ${show(ttl)}.`,
  );
}

export function isTtlSeconds(value: unknown): value is number {
  return (
    typeof value === "number" &&
    Number.isInteger(value) &&
    (value === -1 || (value >= 1 && value <= limits.ttlSecondsMax))
  );
}
