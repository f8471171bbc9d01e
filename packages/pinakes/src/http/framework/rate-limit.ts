/**
 * Limits the requests per caller, and failed sign-ins per address. Token buckets in memory: each process counts separately. The least
 * recently seen bucket is evicted for a new one, so that memory is bounded.
 */
import { createHash } from "node:crypto";
import type { Caller } from "../../domain/caller.ts";
import { hasCode } from "../../domain/errors.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import { secretsOf, type Credentials } from "./credentials.ts";
import { HttpError } from "./http-error.ts";

export interface BucketOptions {
  readonly perSecond: number;
  /** Burst size after a pause. */
  readonly burst: number;
}

export interface RateLimitOptions {
  readonly caller?: BucketOptions | undefined;
  readonly authFailures?: BucketOptions | undefined;
  /** Buckets per kind. */
  readonly entriesMax?: number | undefined;
  readonly clock?: Clock | undefined;
}

export interface Taken {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Time until the next token, if there is none. */
  readonly retryAfterMs: number;
  /** Time until the bucket is full. */
  readonly resetMs: number;
}

export const rateLimitDefaults = Object.freeze({
  caller: Object.freeze({ perSecond: 100, burst: 200 }),
  authFailures: Object.freeze({ perSecond: 10 / 60, burst: 20 }),
  entriesMax: 50_000,
});

/** Avoids rounding errors: tenths of a second do not add up to whole seconds exactly. */
const rounding = 1e-9;

export class TokenBuckets {
  readonly #options: BucketOptions;
  readonly #entriesMax: number;
  readonly #clock: Clock;
  /** In order of last use. */
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  constructor(options: BucketOptions, entriesMax: number, clock: Clock) {
    this.#options = options;
    this.#entriesMax = entriesMax;
    this.#clock = clock;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one token if there is one; with `cost` 0 only checks. */
  take(key: string, cost: 0 | 1 = 1): Taken {
    const { perSecond, burst } = this.#options;
    const now = this.#clock.now();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now };
    // A clock that is set back changes nothing.
    const tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) * perSecond) / 1000);
    const allowed = tokens >= 1 - rounding;
    const left = allowed ? Math.max(0, tokens - cost) : tokens;
    // If nothing is taken, the time is not updated, so that rounding errors do not add up.
    if (left !== tokens) this.#keep(key, { tokens: left, at: now });
    else if (this.#buckets.has(key)) this.#keep(key, bucket);
    return {
      allowed,
      remaining: Math.floor(left),
      retryAfterMs: allowed ? 0 : Math.ceil(((1 - tokens) * 1000) / perSecond),
      resetMs: Math.ceil(((burst - left) * 1000) / perSecond),
    };
  }

  #keep(key: string, bucket: { tokens: number; at: number }): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#entriesMax) this.#buckets.delete(this.#buckets.keys().next().value as string);
  }
}

export class RateLimiter {
  readonly #callers: TokenBuckets;
  readonly #failures: TokenBuckets;
  readonly #burst: number;
  readonly #entriesMax: number;
  /** Hashes of valid credentials: one client with a wrong key must not lock out others behind the same address. */
  readonly #good = new Set<string>();

  constructor({
    caller = rateLimitDefaults.caller,
    authFailures = rateLimitDefaults.authFailures,
    ...options
  }: RateLimitOptions = {}) {
    const { entriesMax = rateLimitDefaults.entriesMax, clock = systemClock } = options;
    this.#callers = new TokenBuckets(caller, entriesMax, clock);
    this.#failures = new TokenBuckets(authFailures, entriesMax, clock);
    this.#burst = caller.burst;
    this.#entriesMax = entriesMax;
  }

  /** Called before credentials are checked: throws if there were too many failures from this address. */
  checkAddress(address: string, credentials: Credentials): void {
    const { allowed, retryAfterMs } = this.#failures.take(addressKey(address), 0);
    if (allowed || this.#good.has(hashOf(credentials))) return;
    const seconds = Math.ceil(retryAfterMs / 1000);
    throw new HttpError(
      "THROTTLED",
      `Too many failed attempts to sign in from this address; try again in ${seconds} s.`,
      {
        headers: { "retry-after": String(seconds) },
      },
    );
  }

  signedIn(credentials: Credentials): void {
    const hash = hashOf(credentials);
    this.#good.delete(hash);
    this.#good.add(hash);
    if (this.#good.size > this.#entriesMax) this.#good.delete(this.#good.values().next().value as string);
  }

  /** Counts an error against the address if it is a failed sign-in; a request without credentials is not. */
  failed(address: string, credentials: Credentials | undefined, error: unknown): void {
    if (!hasCode(error, "UNAUTHENTICATED")) return;
    if (credentials !== undefined) {
      if (secretsOf(credentials).length === 0) return;
      this.#good.delete(hashOf(credentials));
    }
    this.#failures.take(addressKey(address));
  }

  /** Counts one request of a caller; returns the headers with the remaining quota. */
  take({ scope, userId }: Caller): Readonly<Record<string, string>> {
    const { allowed, remaining, retryAfterMs, resetMs } = this.#callers.take(JSON.stringify([scope.tenant, userId]));
    const headers = {
      "ratelimit-limit": String(this.#burst),
      "ratelimit-remaining": String(remaining),
      "ratelimit-reset": String(Math.ceil(resetMs / 1000)),
    };
    if (allowed) return headers;
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
    throw new HttpError(
      "THROTTLED",
      `Too many requests at once; try again in ${seconds} s, and send fewer in parallel.`,
      {
        headers: { ...headers, "retry-after": String(seconds) },
      },
    );
  }
}

/** An IPv6 client has a whole /64 of its own, which counts as one address. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1] as string;
  if (!address.includes(":")) return address;
  const [head = "", tail] = (address.split("%")[0] as string).split("::");
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - groups.length - after.length) }, () => "0");
  return [...groups, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

function hashOf(credentials: Credentials): string {
  return createHash("sha256")
    .update(JSON.stringify(secretsOf(credentials)))
    .digest("base64");
}
