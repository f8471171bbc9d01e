/** Cursors and session tokens of an item store, bound to tenant and purpose. */
import { invalid } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { SealedTokens } from "../runtime/tokens.ts";

const tokenCharsMax = 65_536;

export class Tokens {
  readonly #tokens: SealedTokens;

  constructor(key: Uint8Array) {
    this.#tokens = new SealedTokens(key, { charsMax: tokenCharsMax });
  }

  seal(purpose: string, tenant: string, payload: JsonObject): string {
    return this.#tokens.seal(bindingOf(purpose, tenant), payload);
  }

  open(purpose: string, tenant: string, token: string): JsonObject {
    const payload = this.#tokens.open(bindingOf(purpose, tenant), token)?.payload;
    if (isJsonObject(payload)) return payload;
    throw invalid(
      `The ${purpose} was not issued by this store: it was modified, truncated, or belongs elsewhere. Omit it to start over.`,
    );
  }
}

function bindingOf(purpose: string, tenant: string): string {
  return `${purpose}\0${tenant}\0`;
}
