/**
 * The one-time token that the server prints at startup: whoever can read the terminal may open one session with it. It is kept only in the
 * memory of this process; creating a new one invalidates the previous one.
 */
import type { Clock } from "../ports/clock.ts";
import { identityLimits } from "./limits.ts";
import { hasHash, newSecret, sha256 } from "./secrets.ts";

const prefix = "pot_";

interface Outstanding {
  readonly sha256: string;
  readonly expiresAt: number;
}

export class OneTimeToken {
  readonly #clock: Clock;
  #outstanding: Outstanding | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  static looksLike(text: string): boolean {
    return text.startsWith(prefix);
  }

  make(): string {
    const token = `${prefix}${newSecret()}`;
    this.#outstanding = { sha256: sha256(token), expiresAt: this.#clock.now() + identityLimits.oneTimeTokenMs };
    return token;
  }

  /** Consumes the token synchronously, so that it can never be used twice. If it was valid, returns a function that restores it. */
  use(token: string): { giveBack(): void } | undefined {
    const outstanding = this.#outstanding;
    if (outstanding === undefined || this.#clock.now() >= outstanding.expiresAt || !hasHash(token, outstanding.sha256))
      return undefined;
    this.#outstanding = undefined;
    return {
      giveBack: () => {
        this.#outstanding ??= outstanding;
      },
    };
  }
}
