/**
 * The one-time token that the start of the server prints: whoever reads the console may open one session with it. It lives in the
 * memory of this process only; making a new one ends the one before.
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

  /** Takes the token away, without waiting for anything, so two can never have it. Returns how to give it back, when it was good. */
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
