/**
 * Cursors and tokens that clients keep and return: opaque, and bound to a context, so that one that was changed, or belongs to another
 * tenant, list or query, is rejected.
 *
 * - `SignedTokens`: the plain payload with a MAC before it.
 * - `SealedTokens`: encrypted too, where a position would tell one tenant how much the others write. The construction is SIV: the
 *   MAC of the payload is the IV of its encryption, so no nonce has to be unique.
 * - `encryptToken`, `decryptToken`: AES-256-GCM with a random nonce.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const macBytes = 16;
const nonceBytes = 12;
const gcm = "aes-256-gcm";

/** HMAC-SHA-256 of the concatenated parts. */
export function macOf(key: Uint8Array | string, ...parts: readonly (Uint8Array | string)[]): Buffer {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

/** Constant time. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A fingerprint of 22 characters, for example of the query that a cursor belongs to. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

export interface TokenOptions {
  readonly charsMax: number;
}

/** `binding` names everything the payload belongs to; `open` returns undefined for anything that `seal` did not create for it. */
export class SignedTokens {
  readonly #key: Uint8Array;
  readonly #charsMax: number;

  constructor(key: Uint8Array, { charsMax }: TokenOptions) {
    this.#key = key;
    this.#charsMax = charsMax;
  }

  seal(binding: string, payload: unknown): string {
    const body = Buffer.from(JSON.stringify(payload), "utf8");
    return Buffer.concat([shortMac(this.#key, binding, body), body]).toString("base64url");
  }

  open(binding: string, token: string): { readonly payload: unknown } | undefined {
    const bytes = decode(token, this.#charsMax, macBytes);
    const body = bytes?.subarray(macBytes);
    if (bytes === undefined || body === undefined) return undefined;
    return sameBytes(bytes.subarray(0, macBytes), shortMac(this.#key, binding, body)) ? parse(body) : undefined;
  }
}

export class SealedTokens {
  readonly #macKey: Buffer;
  readonly #cipherKey: Buffer;
  readonly #charsMax: number;

  constructor(key: Uint8Array, { charsMax }: TokenOptions) {
    this.#macKey = macOf(key, "pinakes token mac");
    this.#cipherKey = macOf(key, "pinakes token cipher");
    this.#charsMax = charsMax;
  }

  seal(binding: string, payload: unknown): string {
    const body = Buffer.from(JSON.stringify(payload), "utf8");
    const mac = shortMac(this.#macKey, binding, body);
    return Buffer.concat([mac, createCipheriv("aes-256-ctr", this.#cipherKey, mac).update(body)]).toString("base64url");
  }

  open(binding: string, token: string): { readonly payload: unknown } | undefined {
    const bytes = decode(token, this.#charsMax, macBytes);
    if (bytes === undefined) return undefined;
    const mac = bytes.subarray(0, macBytes);
    const body = createDecipheriv("aes-256-ctr", this.#cipherKey, mac).update(bytes.subarray(macBytes));
    return sameBytes(mac, shortMac(this.#macKey, binding, body)) ? parse(body) : undefined;
  }
}

/** A payload that only this key opens, for this binding. */
export function encryptToken(key: Uint8Array, binding: string, payload: unknown): string {
  const nonce = randomBytes(nonceBytes);
  const sealing = createCipheriv(gcm, key, nonce).setAAD(Buffer.from(binding, "utf8"));
  const body = Buffer.concat([sealing.update(JSON.stringify(payload), "utf8"), sealing.final()]);
  return Buffer.concat([nonce, sealing.getAuthTag(), body]).toString("base64url");
}

export function decryptToken(
  key: Uint8Array,
  binding: string,
  token: string,
  { charsMax }: TokenOptions,
): { readonly payload: unknown } | undefined {
  const head = nonceBytes + macBytes;
  const bytes = decode(token, charsMax, head);
  if (bytes === undefined) return undefined;
  const opening = createDecipheriv(gcm, key, bytes.subarray(0, nonceBytes), { authTagLength: macBytes })
    .setAAD(Buffer.from(binding, "utf8"))
    .setAuthTag(bytes.subarray(nonceBytes, head));
  try {
    return parse(Buffer.concat([opening.update(bytes.subarray(head)), opening.final()]));
  } catch {
    return undefined; // The tag does not match: the token was changed, or has another binding.
  }
}

function shortMac(key: Uint8Array, binding: string, body: Uint8Array): Buffer {
  return macOf(key, binding, body).subarray(0, macBytes);
}

function decode(token: string, charsMax: number, headBytes: number): Buffer | undefined {
  if (typeof token !== "string" || token.length > charsMax) return undefined;
  const bytes = Buffer.from(token, "base64url");
  // The base64 decoder ignores invalid characters; a token is accepted only in its exact form.
  return bytes.length > headBytes && bytes.toString("base64url") === token ? bytes : undefined;
}

function parse(body: Buffer): { readonly payload: unknown } {
  return { payload: JSON.parse(body.toString("utf8")) as unknown };
}
