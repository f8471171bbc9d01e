/**
 * The authenticated caller, and how it was authenticated. Registered like a caller, so that a forged object is rejected: rights to keys and
 * workspaces depend on `via` and `keyId`, which a caller does not have.
 */
import type { AuthenticatedBy, Me } from "@pinakes/client";
import { PinakesError } from "../domain/errors.ts";
import { makeCaller, requireCaller, type Caller } from "../domain/caller.ts";
import { noteActingFor } from "../runtime/call-notes.ts";

export interface Authenticated {
  readonly caller: Caller;
  readonly via: AuthenticatedBy;
  /** The key that was used, or that the session was created from. */
  readonly keyId?: string;
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
  /** Only reads are allowed; see requireWrite. */
  readonly readOnly?: true;
  /** Users of the same workspace that this credential may act for, besides its own; see actAs. */
  readonly actAs?: readonly string[];
  /** For a session: the CSRF token that its unsafe requests must carry. */
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
    "This call needs the result of authenticate() as its first argument; got none, or a forged one.",
  );
}

/** For every route that changes something: rejects read-only keys, and sessions created from them. */
export function requireWrite(auth: Authenticated): void {
  if (requireAuthenticated(auth).readOnly !== true) return;
  throw new PinakesError(
    "FORBIDDEN",
    "This key is read-only. Use a key without `scopes`, or ask an admin of your workspace for one.",
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
 * The caller for another user named in the credential's `act_as`: with that user's id and none of the credential's role, groups and
 * permissions. Undefined if the credential may not act for this user. Whether the user exists makes no difference.
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

/** The same message for a wrong, a revoked and an expired credential: it must not reveal which keys exist. */
export function refused(cause?: unknown): PinakesError {
  const detail =
    "This credential is not valid: it is wrong, revoked or expired. Sign in again, or ask an admin of your workspace for a new key.";
  return new PinakesError("UNAUTHENTICATED", detail, cause === undefined ? {} : { cause });
}

export function nothingGiven(): PinakesError {
  return new PinakesError(
    "UNAUTHENTICATED",
    "Sign in first: send `Authorization: Bearer <API key or token>`, or open a session with POST /v1/sessions. The first key is in the file `root-token` of the data folder; create others with `pinakes keys create` or POST /v1/keys.",
  );
}
