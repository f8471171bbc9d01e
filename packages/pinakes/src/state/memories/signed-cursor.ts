/** Cursors of lists that no single query of the store makes: a place, signed for its tenant and list. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";

const macBytes = 16;
const charsMax = 8_192;

export class SignedCursors {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** `list` names everything that the place belongs to. */
  seal(scope: Scope, list: readonly JsonValue[], place: JsonValue): string {
    const body = Buffer.from(JSON.stringify(place), "utf8");
    return Buffer.concat([this.#mac(scope, list, body), body]).toString("base64url");
  }

  open(scope: Scope, list: readonly JsonValue[], cursor: string): JsonValue {
    const refused = () =>
      invalid(
        "cursor: is not one that this list gave you: it was changed, cut, or belongs to another list. Leave it out to begin anew.",
      );
    if (typeof cursor !== "string" || cursor.length > charsMax) throw refused();
    const bytes = Buffer.from(cursor, "base64url");
    if (bytes.length <= macBytes || bytes.toString("base64url") !== cursor) throw refused();
    const body = bytes.subarray(macBytes);
    if (!timingSafeEqual(bytes.subarray(0, macBytes), this.#mac(scope, list, body))) throw refused();
    return JSON.parse(body.toString("utf8")) as JsonValue;
  }

  #mac({ tenant }: Scope, list: readonly JsonValue[], body: Uint8Array): Buffer {
    return createHmac("sha256", this.#key)
      .update(JSON.stringify(["state cursor", tenant, list]))
      .update(body)
      .digest()
      .subarray(0, macBytes);
  }
}
