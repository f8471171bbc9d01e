/**
 * The public keys of one issuer, fetched on demand and cached.
 *
 * They are fetched again after 10 minutes, and earlier (at most every 30 seconds) when a token names an unknown key: the issuer may have
 * rotated its keys. While the issuer does not respond, cached keys are used for up to an hour; after that, tokens fail with UNAVAILABLE
 * rather than being rejected for a fault of the issuer. All times are taken from our clock, which is why jose's own fetching is not used.
 */
import {
  createLocalJWKSet,
  errors,
  type CompactJWSHeaderParameters,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
} from "jose";
import { PinakesError } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import { fetchFrom } from "../outgoing/fetch-from.ts";
import { identityLimits } from "./limits.ts";
import { isSafeUrl, type OidcSettings } from "./oidc-settings.ts";

type KeySet = ReturnType<typeof createLocalJWKSet>;

export class IssuerKeys {
  readonly #settings: OidcSettings;
  readonly #clock: Clock;
  readonly #log: (line: string) => void;
  #known: { readonly keys: KeySet; readonly fetchedAt: number } | undefined;
  #failed: { readonly error: PinakesError; readonly at: number } | undefined;
  #fetching: Promise<KeySet> | undefined;

  constructor(parts: { settings: OidcSettings; clock: Clock; log: (line: string) => void }) {
    this.#settings = parts.settings;
    this.#clock = parts.clock;
    this.#log = parts.log;
  }

  /** The key for a token; throws jose's own errors if there is none, or more than one. */
  async find(header: CompactJWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const keys = await this.#current();
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || this.#age() < identityLimits.issuerKeysCooldownMs)
        throw error;
      return (await this.#fetch())(header, token);
    }
  }

  async #current(): Promise<KeySet> {
    const known = this.#known?.keys;
    const age = this.#age();
    if (known !== undefined && age < identityLimits.issuerKeysFreshMs) return known;
    try {
      return await this.#fetch();
    } catch (error) {
      if (known !== undefined && age < identityLimits.issuerKeysAgeMsMax) return known;
      throw error;
    }
  }

  /** Infinity if there are none, or if the clock was set back since. */
  #age(): number {
    const age = this.#known === undefined ? Infinity : this.#clock.now() - this.#known.fetchedAt;
    return age < 0 ? Infinity : age;
  }

  /** Concurrent callers share one fetch, and a fetch that failed a moment ago is not repeated. */
  async #fetch(): Promise<KeySet> {
    const sinceFailure = this.#failed === undefined ? Infinity : this.#clock.now() - this.#failed.at;
    if (this.#failed !== undefined && sinceFailure >= 0 && sinceFailure < identityLimits.issuerRetryMs)
      throw this.#failed.error;
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetchNow(): Promise<KeySet> {
    const fetchedAt = this.#clock.now();
    const { issuer } = this.#settings;
    try {
      const keys = createLocalJWKSet((await fetchJson(await this.#address())) as JSONWebKeySet);
      this.#known = { keys, fetchedAt };
      this.#failed = undefined;
      return keys;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#log(`identity: the keys of ${issuer} could not be fetched: ${reason}`);
      const error = new PinakesError(
        "UNAVAILABLE",
        `The keys of the sign-in provider ${issuer} cannot be fetched right now, so its tokens cannot be checked. Try again later.`,
        { cause },
      );
      this.#failed = { error, at: this.#clock.now() };
      throw error;
    }
  }

  async #address(): Promise<string> {
    const { issuer, jwksUri } = this.#settings;
    if (jwksUri !== undefined) return jwksUri;
    const document = (await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`)) as {
      issuer?: unknown;
      jwks_uri?: unknown;
    } | null;
    if (document?.issuer !== issuer)
      throw new Error(
        `its openid-configuration names another issuer, ${JSON.stringify(document?.issuer)}; set the issuer to exactly this value`,
      );
    if (typeof document.jwks_uri !== "string" || !isSafeUrl(document.jwks_uri))
      throw new Error("its openid-configuration has no https:// jwks_uri; set jwksUri");
    return document.jwks_uri;
  }
}

/** Fetches a JSON document from an issuer, bounded in time and size; redirects are rejected. */
async function fetchJson(url: string): Promise<unknown> {
  const { status, text } = await fetchFrom(url, {
    headers: { accept: "application/json, application/jwk-set+json" },
    signal: AbortSignal.timeout(identityLimits.issuerAnswerMsMax),
    answerBytesMax: identityLimits.issuerAnswerBytesMax,
  });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return JSON.parse(text) as unknown;
}
