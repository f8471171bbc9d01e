/**
 * Keys as callers give them, and as drivers store them: a tenant's `a/b` is stored as `t/<tenant>/a/b`.
 *
 * Invariant: a stored key made for a tenant begins with that tenant's prefix, and no rule of any engine (path resolution, URL
 * normalisation, case folding) can make it escape. Hence no empty, "." or ".." segments, no backslash, no control characters.
 */
import { invalid } from "../domain/errors.ts";
import { compareUtf8, utf8Bytes } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { requireAnyScope } from "../domain/scope.ts";
import type { AnyScope } from "../ports/object-store.ts";

/** The prefix of a scope's keys; empty for a system scope. */
export interface KeySpace {
  readonly prefix: string;
  readonly keyBytesMax: number;
}

const storedPrefixBytesMax = "t//".length + limits.tenantCharsMax;

export function keySpaceOf(scope: AnyScope): KeySpace {
  const tenant = requireAnyScope(scope);
  if (tenant === undefined) return { prefix: "", keyBytesMax: limits.objectKeyBytesMax + storedPrefixBytesMax };
  return { prefix: `t/${tenant}/`, keyBytesMax: limits.objectKeyBytesMax };
}

export function storedKey({ prefix, keyBytesMax }: KeySpace, key: string): string {
  checkText(key, "key", keyBytesMax);
  if (key === "") throw invalid("key: must not be empty.");
  checkSegments(key.split("/"), key, "key");
  return prefix + key;
}

/** A prefix may end anywhere, so its last segment may be empty or partial, such as ".". */
export function storedPrefix({ prefix, keyBytesMax }: KeySpace, text: string): string {
  checkText(text, "prefix", keyBytesMax);
  checkSegments(text.split("/").slice(0, -1), text, "prefix");
  return prefix + text;
}

/** `after` is only compared, so any text is valid. */
export function storedAfter({ prefix, keyBytesMax }: KeySpace, after: string): string {
  checkText(after, "after", keyBytesMax);
  return prefix + after;
}

export function compareKeys(a: { readonly key: string }, b: { readonly key: string }): number {
  return compareUtf8(a.key, b.key);
}

function checkText(text: unknown, what: string, bytesMax: number): asserts text is string {
  if (typeof text !== "string")
    throw invalid(`${what}: must be a string, got ${text === null ? "null" : typeof text}.`);
  if (text.length > bytesMax || utf8Bytes(text) > bytesMax)
    throw invalid(`${what}: longer than ${bytesMax} bytes of UTF-8.`);
  if (!text.isWellFormed()) throw invalid(`${what}: contains half of a surrogate pair, which has no UTF-8 form.`);
  if (/[\p{Cc}\\]/u.test(text))
    throw invalid(
      `${what}: ${JSON.stringify(text)} contains a control character or a backslash; separate segments by "/".`,
    );
}

function checkSegments(segments: readonly string[], text: string, what: string): void {
  for (const segment of segments) {
    if (segment === "" || segment === "." || segment === "..") {
      throw invalid(
        `${what}: ${JSON.stringify(text)} has the segment ${JSON.stringify(segment)}; segments between "/" must not be empty, "." or "..".`,
      );
    }
  }
}
