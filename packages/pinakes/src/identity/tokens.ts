/**
 * OIDC tokens: JWTs of the issuers in the settings. Only asymmetric signatures are accepted, so a public key cannot be used to sign;
 * issuer, audience and times are checked, and a token without an expiry is rejected.
 */
import {
  decodeJwt,
  errors,
  jwtVerify,
  type CompactJWSHeaderParameters,
  type FlattenedJWSInput,
  type JWTPayload,
} from "jose";
import { PinakesError } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import { grant, refused, type Authenticated } from "./authenticated.ts";
import { callerOfClaims, isReadOnly } from "./claims.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { identityLimits } from "./limits.ts";
import type { OidcSettings } from "./oidc-settings.ts";

const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const dateMsMax = 8.64e15;

interface Issuer {
  readonly settings: OidcSettings;
  readonly keys: IssuerKeys;
}

export class TokenChecker {
  readonly #issuers: ReadonlyMap<string, Issuer>;
  readonly #clock: Clock;

  constructor({
    settings,
    clock,
    log,
  }: {
    settings: readonly OidcSettings[];
    clock: Clock;
    log: (line: string) => void;
  }) {
    this.#issuers = new Map(
      settings.map((one) => [one.issuer, { settings: one, keys: new IssuerKeys({ settings: one, clock, log }) }]),
    );
    this.#clock = clock;
  }

  async authenticate(token: string): Promise<Authenticated> {
    const issuer = this.#issuerOf(token);
    if (issuer === undefined) throw refused();
    const claims = await this.#verify(token, issuer).catch((error: unknown) => {
      throw asRefusal(error);
    });
    const expiresAt = Math.min((claims.exp ?? 0) * 1000, dateMsMax);
    const readOnly = isReadOnly(claims, issuer.settings) ? { readOnly: true as const } : {};
    return grant({ caller: callerOfClaims(claims, issuer.settings), via: "token", expiresAt, ...readOnly });
  }

  /** Uses the unverified issuer only to choose the keys; the claim is verified again with the signature. */
  #issuerOf(token: string): Issuer | undefined {
    try {
      return this.#issuers.get(decodeJwt(token).iss ?? "");
    } catch {
      return undefined; // Not a JWT at all; the caller rejects it.
    }
  }

  async #verify(token: string, { settings, keys }: Issuer): Promise<JWTPayload> {
    const { issuer, audience } = settings;
    const options = {
      algorithms,
      issuer,
      audience: typeof audience === "string" ? audience : [...audience],
      requiredClaims: ["exp"],
      clockTolerance: identityLimits.tokenToleranceSeconds,
      currentDate: new Date(this.#clock.now()),
    };
    try {
      return (
        await jwtVerify(
          token,
          (header: CompactJWSHeaderParameters, input: FlattenedJWSInput) => keys.find(header, input),
          options,
        )
      ).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      return verifyWithEach(token, error, options);
    }
  }
}

/** For a token that does not name its key: every matching key is tried. */
async function verifyWithEach(
  token: string,
  several: errors.JWKSMultipleMatchingKeys,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  let tried = 0;
  for await (const key of several) {
    tried += 1;
    if (tried > identityLimits.issuerKeysTriedMax) break;
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw several;
}

function asRefusal(error: unknown): PinakesError {
  // The issuer cannot be reached: not the fault of the token.
  if (PinakesError.isInstance(error)) return error;
  // Only reported for a token with a valid signature, since that is checked first.
  if (error instanceof errors.JWTExpired)
    return new PinakesError(
      "UNAUTHENTICATED",
      "The token has expired. Get a new one from your sign-in provider and try again.",
      { cause: error },
    );
  return refused(error);
}
