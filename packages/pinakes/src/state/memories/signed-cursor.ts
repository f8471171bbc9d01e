/** Cursors of lists that are not a single query of the store: a position, signed for its tenant and list. */
import { invalid } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { SignedTokens } from "../../runtime/tokens.ts";

export class SignedCursors {
  readonly #tokens: SignedTokens;

  constructor(key: Uint8Array) {
    this.#tokens = new SignedTokens(key, { charsMax: 8_192 });
  }

  /** `list` identifies everything that the position depends on. */
  seal(scope: Scope, list: readonly JsonValue[], place: JsonValue): string {
    return this.#tokens.seal(bindingOf(scope, list), place);
  }

  open(scope: Scope, list: readonly JsonValue[], cursor: string): JsonValue {
    const opened = this.#tokens.open(bindingOf(scope, list), cursor);
    if (opened !== undefined) return opened.payload as JsonValue;
    throw invalid(
      "cursor: is not a valid cursor of this list: it was modified, truncated, or belongs to another list. Omit it to start over.",
    );
  }
}

function bindingOf({ tenant }: Scope, list: readonly JsonValue[]): string {
  return JSON.stringify(["state cursor", tenant, list]);
}
