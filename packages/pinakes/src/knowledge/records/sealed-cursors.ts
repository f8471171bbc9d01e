/**
 * Sealed cursors: a position in the order of a store, bound to one tenant and query. Encrypted, because a position may reveal how much
 * others have stored.
 */
import { randomBytes } from "node:crypto";
import { hasCode, invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { decryptToken, encryptToken } from "../../runtime/tokens.ts";
import { grantsContainer } from "./grants-container.ts";
import { knowledgeTenant } from "./work-registry.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

const keyBytes = 32;
const cursorCharsMax = 65_536;
/** No grant has this id: theirs are hashes. */
const keyId = "triple-cursors";

export class SealedCursors {
  readonly #deps: Pick<KnowledgeDependencies, "items" | "system">;
  #key: Promise<Uint8Array> | undefined;

  constructor(deps: Pick<KnowledgeDependencies, "items" | "system">) {
    this.#deps = deps;
  }

  /** `question` names everything that the position belongs to. */
  async seal(scope: Scope, question: readonly JsonValue[], position: JsonValue): Promise<string> {
    return encryptToken(await this.#secret(), bindingOf(scope, question), position);
  }

  async open(scope: Scope, question: readonly JsonValue[], cursor: string): Promise<JsonValue> {
    const opened = decryptToken(await this.#secret(), bindingOf(scope, question), cursor, { charsMax: cursorCharsMax });
    if (opened !== undefined) return opened.payload as JsonValue;
    throw invalid(
      "cursor: is not valid for this query: it was modified, truncated, or belongs to another query. Omit it to start over.",
    );
  }

  #secret(): Promise<Uint8Array> {
    this.#key ??= this.#readKey();
    // A transient failure of the store must not be cached.
    this.#key.catch(() => (this.#key = undefined));
    return this.#key;
  }

  /** Created once by the first process, and shared by all processes of the store. */
  async #readKey(): Promise<Uint8Array> {
    const { items, system } = this.#deps;
    const scope = system.forTenant(knowledgeTenant);
    const key = { partition: [keyId], id: keyId };
    const stored = await items.read(scope, grantsContainer.name, key);
    if (stored !== undefined) return Buffer.from(stored.document["key"] as string, "base64");
    const secret = randomBytes(keyBytes);
    try {
      await items.write(scope, grantsContainer.name, key.partition, {
        op: "create",
        document: { id: keyId, grant: keyId, key: secret.toString("base64") },
      });
      return secret;
    } catch (error) {
      if (hasCode(error, "CONFLICT")) return this.#readKey();
      throw error;
    }
  }
}

function bindingOf({ tenant }: Scope, question: readonly JsonValue[]): string {
  return JSON.stringify(["triples", tenant, question]);
}
