/**
 * Cursors and session tokens: opaque to clients, and bound to tenant and purpose, so that a token that was changed, or belongs to
 * another tenant, container or query, is refused at once. They are encrypted too, because a position in the feed would tell one
 * tenant how much the others write.
 *
 * The construction is that of SIV: the MAC of the payload is the IV of its encryption, so no nonce has to be unique.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, timingSafeEqual } from "node:crypto";
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";

const macBytes = 16;
const tokenCharsMax = 65_536;

export class Tokens {
  readonly #macKey: Buffer;
  readonly #cipherKey: Buffer;

  constructor(key: Uint8Array) {
    this.#macKey = createHmac("sha256", key).update("pinakes token mac").digest();
    this.#cipherKey = createHmac("sha256", key).update("pinakes token cipher").digest();
  }

  seal(purpose: string, tenant: string, payload: JsonObject): string {
    const body = Buffer.from(JSON.stringify(payload), "utf8");
    const mac = this.#mac(purpose, tenant, body);
    return Buffer.concat([mac, createCipheriv("aes-256-ctr", this.#cipherKey, mac).update(body)]).toString("base64url");
  }

  open(purpose: string, tenant: string, token: string): JsonObject {
    const refused = () =>
      invalid(
        `The ${purpose} is not one that this store gave to you: it was changed, cut, or belongs elsewhere. Leave it out to begin anew.`,
      );
    if (typeof token !== "string" || token.length > tokenCharsMax) throw refused();
    const bytes = Buffer.from(token, "base64url");
    // The decoder skips what it does not know; a token is taken only as it was given.
    if (bytes.length <= macBytes || bytes.toString("base64url") !== token) throw refused();
    const mac = bytes.subarray(0, macBytes);
    const body = createDecipheriv("aes-256-ctr", this.#cipherKey, mac).update(bytes.subarray(macBytes));
    if (!timingSafeEqual(mac, this.#mac(purpose, tenant, body))) throw refused();
    const payload: unknown = JSON.parse(body.toString("utf8"));
    if (!isJsonObject(payload)) throw refused();
    return payload;
  }

  #mac(purpose: string, tenant: string, body: Uint8Array): Buffer {
    return createHmac("sha256", this.#macKey)
      .update(`${purpose}\0${tenant}\0`)
      .update(body)
      .digest()
      .subarray(0, macBytes);
  }
}

export function fingerprintHash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}
