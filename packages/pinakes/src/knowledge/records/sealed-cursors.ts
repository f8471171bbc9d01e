/**
 * Cursors of triples: a place in the order of a store, sealed for one tenant and one question. They are encrypted, because a place may tell
 * how much others have stored.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { invalid, PinakesError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { grantsContainer } from "./grants-container.ts";
import { knowledgeTenant } from "./work-registry.ts";
import type { KnowledgeParts } from "../dependencies.ts";

const cipher = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const cursorCharsMax = 65_536;
/** No grant has it: theirs are hashes. */
const keyId = "triple-cursors";

export class SealedCursors {
  readonly #parts: Pick<KnowledgeParts, "items" | "system">;
  #key: Promise<Uint8Array> | undefined;

  constructor(parts: Pick<KnowledgeParts, "items" | "system">) {
    this.#parts = parts;
  }

  /** `question` names everything that the place belongs to. */
  async seal(scope: Scope, question: readonly JsonValue[], place: JsonValue): Promise<string> {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, await this.#secret(), nonce).setAAD(boundTo(scope, question));
    const body = Buffer.concat([sealing.update(JSON.stringify(place), "utf8"), sealing.final()]);
    return Buffer.concat([nonce, sealing.getAuthTag(), body]).toString("base64url");
  }

  async open(scope: Scope, question: readonly JsonValue[], cursor: string): Promise<JsonValue> {
    const bytes =
      typeof cursor === "string" && cursor.length <= cursorCharsMax
        ? Buffer.from(cursor, "base64url")
        : Buffer.alloc(0);
    if (bytes.length <= nonceBytes + tagBytes || bytes.toString("base64url") !== cursor) throw refused();
    const opening = createDecipheriv(cipher, await this.#secret(), bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(boundTo(scope, question))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    try {
      const body = Buffer.concat([opening.update(bytes.subarray(nonceBytes + tagBytes)), opening.final()]);
      return JSON.parse(body.toString("utf8")) as JsonValue;
    } catch (error) {
      throw refused(error);
    }
  }

  #secret(): Promise<Uint8Array> {
    this.#key ??= this.#readKey();
    // A store that was away for a moment must not spoil it for ever.
    this.#key.catch(() => (this.#key = undefined));
    return this.#key;
  }

  /** Made once, by whoever is first, and shared by all processes over the store. */
  async #readKey(): Promise<Uint8Array> {
    const { items, system } = this.#parts;
    const scope = system.forTenant(knowledgeTenant);
    const key = { partition: [keyId], id: keyId };
    const stored = await items.read(scope, grantsContainer.name, key);
    if (stored !== undefined) return Buffer.from(stored.document["key"] as string, "base64");
    const made = randomBytes(keyBytes);
    try {
      await items.write(scope, grantsContainer.name, key.partition, {
        op: "create",
        document: { id: keyId, grant: keyId, key: made.toString("base64") },
      });
      return made;
    } catch (error) {
      if (PinakesError.isInstance(error) && error.code === "CONFLICT") return this.#readKey();
      throw error;
    }
  }
}

function boundTo({ tenant }: Scope, question: readonly JsonValue[]): Buffer {
  return Buffer.from(JSON.stringify(["triples", tenant, question]), "utf8");
}

function refused(cause?: unknown): PinakesError {
  return invalid(
    "cursor: is not one that this query gave you: it was changed, cut, or belongs to another one. Leave it out to begin anew.",
    { cause },
  );
}
