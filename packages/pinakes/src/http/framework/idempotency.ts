/**
 * Idempotency-Key: a POST repeated with the same key returns the first response and has no further effect.
 *
 * - A key belongs to one caller (workspace and user) and one route; another path, query or body with the same key is rejected with 422.
 * - While the first is in progress, a second is rejected with 409 and Retry-After.
 * - Responses below 500 are stored for 24 hours, including rejections; retryable errors are not stored, and release the key.
 * - A process that dies between doing the work and storing the response leaves the key "in progress". Its lease expires after 15 s (it is
 *   renewed while the work continues), and then the next request with this key repeats the work: at least once, not exactly once.
 */
import { createHash } from "node:crypto";
import { PinakesError, invalid, type ErrorCode } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Answer } from "./answer.ts";
import { HttpError, toProblemAnswer } from "./http-error.ts";
import { bodyText } from "./respond.ts";

export const idempotencyLimits = Object.freeze({
  keyCharsMax: 255,
  bodyBytesMax: 262_144,
  leaseMs: 15_000,
  keptSeconds: 86_400,
});
const renewMsDefault = 5_000;

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag?: string | undefined;
  readonly contentType?: string | undefined;
  /** The text of the body; null if there was none, or if it was too large to store. */
  readonly body: string | null;
  readonly tooLarge: boolean;
}

export interface Claim {
  /** Hash of user, route and key. */
  readonly id: string;
  /** Hash of the request. */
  readonly fingerprint: string;
}

export type Begun =
  /** This request does the work; `lease` is needed to finish. */
  | { readonly state: "new"; readonly lease: string }
  | { readonly state: "running"; readonly retryAfterMs: number }
  | { readonly state: "done"; readonly answer: StoredAnswer }
  | { readonly state: "other" };

export interface IdempotencyStore {
  begin(scope: Scope, claim: Claim): Promise<Begun>;
  /** Renews the lease for `leaseMs`; returns the new lease. */
  renew(scope: Scope, claim: Claim, lease: string): Promise<string>;
  finish(scope: Scope, claim: Claim, lease: string, answer: StoredAnswer): Promise<void>;
  /** Releases the claim, because no work was done. */
  abandon(scope: Scope, claim: Claim, lease: string): Promise<void>;
}

export interface IdempotentCall {
  readonly store: IdempotencyStore;
  readonly scope: Scope;
  readonly claim: Claim;
  readonly requestId: string;
  readonly run: () => Promise<Answer>;
  /** Receives responses that could not be stored. */
  readonly onError: (error: unknown) => void;
  readonly renewMs?: number;
}

/** The validated key of a request; undefined if none was sent. */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const sent = headers.get("idempotency-key");
  if (sent === null) return undefined;
  // The draft standard quotes it; most clients do not.
  const key = sent.trim().replace(/^"(.*)"$/, "$1");
  if (key.length >= 1 && key.length <= idempotencyLimits.keyCharsMax && /^[\x21-\x7e]+$/.test(key)) return key;
  throw invalid(
    `Idempotency-Key: must be 1–${idempotencyLimits.keyCharsMax} visible ASCII characters without spaces, such as a UUID.`,
  );
}

export function makeClaim(request: {
  userId: string;
  operationId: string;
  key: string;
  url: URL;
  body: Uint8Array;
}): Claim {
  const { userId, operationId, key, url, body } = request;
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([url.pathname, url.search]))
    .update(body);
  return {
    id: createHash("sha256")
      .update(JSON.stringify([userId, operationId, key]))
      .digest("hex"),
    fingerprint: fingerprint.digest("hex"),
  };
}

export async function runOnce(call: IdempotentCall): Promise<Answer> {
  const begun = await call.store.begin(call.scope, call.claim);
  switch (begun.state) {
    case "done":
      return replay(begun.answer);
    case "other":
      throw refused(
        "This Idempotency-Key was used for another request; use a new key for each request, and the same key only to repeat one.",
        { status: 422 },
      );
    case "running":
      throw refused("A request with this Idempotency-Key is still in progress; try again to get its response.", {
        retryable: true,
        headers: { "retry-after": String(Math.min(5, Math.max(1, Math.ceil(begun.retryAfterMs / 1000)))) },
      });
    case "new":
      return runFirst(call, begun.lease);
  }
}

async function runFirst(call: IdempotentCall, firstLease: string): Promise<Answer> {
  const { store, scope, claim, onError } = call;
  let lease = Promise.resolve(firstLease);
  const timer = setInterval(() => {
    const before = lease;
    lease = before
      .then((held) => store.renew(scope, claim, held))
      .catch((error: unknown) => {
        onError(error);
        return before;
      });
  }, call.renewMs ?? renewMsDefault);
  // The result is final, whatever happens to its record: a failure to store it is logged and does not change the response.
  const settle = async (work: (held: string) => Promise<void>): Promise<void> => {
    clearInterval(timer);
    await lease.then(work).catch(onError);
  };
  try {
    const answer = await call.run();
    const kept = answer.status < 500 && answer.stream === undefined;
    await settle((held) =>
      kept ? store.finish(scope, claim, held, toStored(answer)) : store.abandon(scope, claim, held),
    );
    return answer;
  } catch (error) {
    const final = PinakesError.isInstance(error) && error.status < 500 && !error.retryable;
    const { status, headers, body } = toProblemAnswer(error, call.requestId);
    const problem: Answer = { status, headers, body, contentType: "application/problem+json" };
    await settle((held) =>
      final ? store.finish(scope, claim, held, toStored(problem)) : store.abandon(scope, claim, held),
    );
    throw error;
  }
}

function toStored(answer: Answer): StoredAnswer {
  const body = bodyText(answer);
  const tooLarge = body !== null && Buffer.byteLength(body, "utf8") > idempotencyLimits.bodyBytesMax;
  const { status, etag, contentType, headers = {} } = answer;
  return { status, etag, contentType, headers, body: tooLarge ? null : body, tooLarge };
}

function replay({ status, headers, etag, contentType, body, tooLarge }: StoredAnswer): Answer {
  if (tooLarge)
    throw refused(
      "This request was already executed, but its response was too large to store; read the resource instead.",
      {},
    );
  return {
    status,
    headers: { ...headers, "idempotency-replayed": "true" },
    ...(etag === undefined ? {} : { etag }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(body === null ? {} : { body: isText(contentType) ? body : (JSON.parse(body) as unknown) }),
  };
}

function isText(contentType: string | undefined): boolean {
  return contentType !== undefined && !contentType.includes("json");
}

function refused(
  detail: string,
  options: { status?: number; retryable?: boolean; headers?: Readonly<Record<string, string>> },
): HttpError {
  const code: ErrorCode = "CONFLICT";
  return new HttpError(code, detail, options);
}
