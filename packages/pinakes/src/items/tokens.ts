/**
 * Cursors and session tokens: opaque to clients, signed with the engine's key and bound to tenant and purpose, so that a token
 * that was changed, or belongs to another tenant, container or query, is refused at once.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";

export class Tokens {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  seal(purpose: string, tenant: string, payload: JsonObject): string {
    const body = Buffer.from(JSON.stringify(payload), "utf8");
    return Buffer.concat([this.#mac(purpose, tenant, body), body]).toString("base64url");
  }

  open(purpose: string, tenant: string, token: string): JsonObject {
    const refused = () =>
      invalid(`The ${purpose} is not one that this store gave to you: it was changed, cut, or belongs elsewhere. Leave it out to begin anew.`);
    if (typeof token !== "string" || token.length > 65_536) throw refused();
    const bytes = Buffer.from(token, "base64url");
    // The decoder skips what it does not know; a token is taken only as it was given.
    if (bytes.toString("base64url") !== token) throw refused();
    const body = bytes.subarray(16);
    if (bytes.length < 18 || !timingSafeEqual(bytes.subarray(0, 16), this.#mac(purpose, tenant, body))) throw refused();
    const payload: unknown = JSON.parse(body.toString("utf8"));
    if (!isJsonObject(payload)) throw refused();
    return payload;
  }

  #mac(purpose: string, tenant: string, body: Uint8Array): Buffer {
    return createHmac("sha256", this.#key).update(`${purpose}\0${tenant}\0`).update(body).digest().subarray(0, 16);
  }
}

export function fingerprintHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
