/**
 * The caller: the tenant scope together with its user, groups and role. Created by the identity layer (from a key, a token or a session) or
 * by the program that embeds Pinakes; registered, so that a look-alike object is rejected.
 */
import { permissions, roles, type Permission, type Role } from "@pinakes/client";
import { PinakesError, invalid, show } from "./errors.ts";
import { tenantScope, type Scope } from "./scope.ts";

export type { Permission, Role };

export interface Caller {
  readonly scope: Scope;
  readonly userId: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly permissions: readonly Permission[];
}

export interface CallerInput {
  /** The workspace. */
  readonly tenant: string;
  readonly userId: string;
  readonly groups?: readonly string[];
  readonly role?: Role;
  readonly permissions?: readonly Permission[];
}

const userIdCharsMax = 256;
const groupsMax = 200;
const groupCharsMax = 256;
const callers = new WeakSet<object>();

export function makeCaller({
  tenant,
  userId,
  groups = [],
  role = "user",
  permissions: granted = [],
}: CallerInput): Caller {
  if (!isName(userId, userIdCharsMax))
    throw invalid(
      `A user id must be a string of 1–${userIdCharsMax} characters without control characters, got ${show(userId)}.`,
    );
  if (!Array.isArray(groups) || groups.length > groupsMax)
    throw invalid(`groups: must be a list of at most ${groupsMax} names.`);
  for (const group of groups) {
    if (!isName(group, groupCharsMax))
      throw invalid(
        `groups: a group must be a string of 1–${groupCharsMax} characters without control characters, got ${show(group)}.`,
      );
  }
  if (!roles.includes(role)) throw invalid(`role: must be one of ${roles.join(", ")}, got ${show(role)}.`);
  if (!Array.isArray(granted) || !granted.every((one) => permissions.includes(one)))
    throw invalid(`permissions: must be a list of ${permissions.join(", ")}, got ${show(granted)}.`);
  const caller: Caller = Object.freeze({
    scope: tenantScope(tenant),
    userId,
    groups: Object.freeze([...new Set(groups)]),
    role,
    permissions: Object.freeze([...new Set(granted)]),
  });
  callers.add(caller);
  return caller;
}

export function requireCaller(caller: Caller): Scope {
  if (typeof caller === "object" && caller !== null && callers.has(caller)) return caller.scope;
  throw new PinakesError(
    "UNAUTHENTICATED",
    "This call needs a caller as its first argument; got none, or an object that is not a caller.",
  );
}

function isName(value: unknown, charsMax: number): value is string {
  return typeof value === "string" && value.length >= 1 && value.length <= charsMax && !/\p{Cc}/u.test(value);
}
