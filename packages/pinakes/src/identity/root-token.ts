/** The root token from the settings: an admin of the workspace `default` that may also create keys for any workspace. */
import { makeCaller } from "../domain/caller.ts";
import { invalid } from "../domain/errors.ts";
import { grant, type Authenticated } from "./authenticated.ts";
import { identityLimits } from "./limits.ts";
import { hasHash, sha256 } from "./secrets.ts";

export const defaultWorkspace = "default";

export class RootToken {
  /** If absent, no credential is accepted as the root token. */
  #sha256: string | null;
  readonly #log: (line: string) => void;
  readonly auth: Authenticated = grant({
    caller: makeCaller({ tenant: defaultWorkspace, userId: "root", role: "admin" }),
    via: "root",
  });

  constructor(token: string | undefined, log: (line: string) => void) {
    this.#log = log;
    this.#sha256 = token === undefined ? null : this.#checked(token);
  }

  get sha256(): string | null {
    return this.#sha256;
  }

  /** Replaces the root token; sessions created from the previous one end with it. */
  replace(token: string): void {
    this.#sha256 = this.#checked(token);
  }

  #checked(token: string): string {
    const hash = sha256(checkRootToken(token));
    if (token.length < identityLimits.rootTokenCharsAdvised)
      this.#log(
        `identity: the root token has only ${token.length} characters; use at least ${identityLimits.rootTokenCharsAdvised} random ones`,
      );
    return hash;
  }

  matches(bearer: string): boolean {
    return this.#sha256 !== null && hasHash(bearer, this.#sha256);
  }

  /** Whether this is still the hash of the root token. */
  hasHash(sha256Hex: string): boolean {
    return this.#sha256 === sha256Hex;
  }
}

function checkRootToken(token: string): string {
  // The characters that a header can contain: any other token could be configured but never sent.
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token) && token.length <= identityLimits.rootTokenCharsMax)
    return token;
  throw invalid(
    `The root token must be 1–${identityLimits.rootTokenCharsMax} printable ASCII characters without spaces.`,
  );
}
