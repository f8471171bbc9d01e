/**
 * Who was recognised, and how. Registered like a caller, so that a look-alike object is refused: rights to keys and workspaces hang
 * on `via` and `keyId`, which a caller does not have.
 */
import type { AuthenticatedBy, Me } from "@pinakes/client";
import { PinakesError } from "../domain/errors.ts";
import { makeCaller, requireCaller, type Caller } from "../domain/caller.ts";
import { noteActingFor } from "../runtime/call-notes.ts";

export interface Authenticated {
  readonly caller: Caller;
  readonly via: AuthenticatedBy;
  /** The key that was used, or that the session was made from. */
  readonly keyId?: string;
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
  /** Only reads are allowed; see requireWrite. */
  readonly readOnly?: true;
  /** Users of the same workspace that this credential may act for, beside its own; see actAs. */
  readonly actAs?: readonly string[];
  /** Of a session: what its unsafe requests must carry. */
  readonly csrfToken?: string;
}

export type { Me };

const granted = new WeakSet<object>();

export function grant(fields: Authenticated): Authenticated {
  requireCaller(fields.caller);
  const auth = Object.freeze({ ...fields });
  granted.add(auth);
  return auth;
}

export function isAuthenticated(value: unknown): value is Authenticated {
  return typeof value === "object" && value !== null && granted.has(value);
}

export function requireAuthenticated(auth: Authenticated): Authenticated {
  if (isAuthenticated(auth)) return auth;
  throw new PinakesError(
    "UNAUTHENTICATED",
    "This call needs what authenticate() returned as its first argument; none (or not a real one) was given.",
  );
}

/** For every route that changes something: refuses read-only keys, and sessions made from them. */
export function requireWrite(auth: Authenticated): void {
  if (requireAuthenticated(auth).readOnly !== true) return;
  throw new PinakesError(
    "FORBIDDEN",
    "This key may only read. Use a key without `scopes`, or ask an admin of your workspace for one.",
  );
}

export function requireAdmin(auth: Authenticated): void {
  if (requireAuthenticated(auth).caller.role === "admin") return;
  throw new PinakesError(
    "FORBIDDEN",
    `Only an admin of the workspace may do this; you are signed in with the role "${auth.caller.role}".`,
  );
}

/**
 * The caller for another user that the credential's `act_as` names: with that user's id and nothing of the credential's role, groups and
 * permissions. Undefined: the credential may not act for this user. Whether the user exists makes no difference.
 */
export function actAs(auth: Authenticated, userId: string): Caller | undefined {
  const { caller, actAs: users = [] } = requireAuthenticated(auth);
  if (userId === caller.userId) return caller;
  if (!users.includes(userId)) return undefined;
  noteActingFor(userId);
  return makeCaller({ tenant: caller.scope.tenant, userId });
}

export function describeMe(auth: Authenticated): Me {
  const { caller, via, keyId, expiresAt, readOnly, csrfToken, actAs: users = [] } = requireAuthenticated(auth);
  return {
    user_id: caller.userId,
    workspace_id: caller.scope.tenant,
    groups: caller.groups,
    role: caller.role,
    permissions: caller.permissions,
    via,
    key_id: keyId ?? null,
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    read_only: readOnly ?? false,
    ...(users.length === 0 ? {} : { act_as: users }),
    ...(csrfToken === undefined ? {} : { csrf_token: csrfToken }),
  };
}

/** One wording for a wrong, a revoked and an expired credential: it must not tell which keys exist. */
export function refused(cause?: unknown): PinakesError {
  const detail =
    "This credential is not valid: it is wrong, was revoked or has expired. Sign in again, or ask an admin of your workspace for a new key.";
  return new PinakesError("UNAUTHENTICATED", detail, cause === undefined ? {} : { cause });
}

export function nothingGiven(): PinakesError {
  return new PinakesError(
    "UNAUTHENTICATED",
    "Sign in first: send `Authorization: Bearer <API key or token>`, or open a session with POST /v1/sessions. The first key is in the file `root-token` of the data folder; make others with `pinakes keys create` or POST /v1/keys.",
  );
}
