/**
 * The tenant scope: the first argument of every port method. It cannot be forgotten or forged.
 *
 * The code that knows the caller creates one (tenantScope): the program that embeds Pinakes, or the server's sign-in. Only `open.ts`
 * creates system scopes, for background work. Both are registered here, so a look-alike object is rejected at run time as well as by
 * the types.
 */
import { PinakesError, invalid, show } from "./errors.ts";
import { limits } from "./limits.ts";

declare const brand: unique symbol;

export interface Scope {
  readonly [brand]: "scope";
  readonly tenant: string;
  /** Why background work acts for this tenant; absent for a caller's own scope. */
  readonly systemReason?: string;
}

export interface SystemScope {
  readonly [brand]: "system";
  readonly systemReason: string;
  /** Background work inside one tenant. */
  forTenant(tenant: string): Scope;
}

const scopes = new WeakSet<object>();
const systemScopes = new WeakSet<object>();
const tenantPattern = new RegExp(`^[A-Za-z0-9._-]{1,${limits.tenantCharsMax}}$`);

/** Names with this prefix are reserved for the system's own registries; only system scopes reach them. */
const reservedPrefix = "pinakes.";

export function tenantScope(tenant: string): Scope {
  if (typeof tenant === "string" && tenant.startsWith(reservedPrefix))
    throw invalid(
      `A tenant id must not start with "${reservedPrefix}", which is reserved for the system; got ${show(tenant)}.`,
    );
  return makeScope({ tenant: checkTenant(tenant) });
}

export function systemScope(reason: string, log: (line: string) => void): SystemScope {
  if (typeof reason !== "string" || reason.trim() === "") throw invalid("A system scope needs a reason; it is logged.");
  log(`background work under a system scope: ${reason}`);
  const scope = Object.freeze({
    systemReason: reason,
    forTenant: (tenant: string) => makeScope({ tenant: checkTenant(tenant), systemReason: reason }),
  }) as unknown as SystemScope;
  systemScopes.add(scope);
  return scope;
}

export function requireScope(scope: Scope): string {
  if (typeof scope === "object" && scope !== null && scopes.has(scope)) return scope.tenant;
  throw new PinakesError(
    "UNAUTHENTICATED",
    "This call needs a tenant scope as its first argument; got none, or an object that is not a scope.",
  );
}

export function requireSystemScope(scope: SystemScope): void {
  if (typeof scope === "object" && scope !== null && systemScopes.has(scope)) return;
  throw new PinakesError(
    "FORBIDDEN",
    "This call is background work of the system; it does not accept a tenant's scope.",
  );
}

/** For ports that serve both: the tenant, or undefined for a system scope. Throws for anything else. */
export function requireAnyScope(scope: Scope | SystemScope): string | undefined {
  if (typeof scope === "object" && scope !== null && systemScopes.has(scope)) return undefined;
  return requireScope(scope as Scope);
}

function makeScope(fields: { tenant: string; systemReason?: string }): Scope {
  const scope = Object.freeze({ ...fields }) as unknown as Scope;
  scopes.add(scope);
  return scope;
}

function checkTenant(tenant: string): string {
  // "." and ".." would be interpreted as folders where a tenant is part of a path.
  if (typeof tenant === "string" && tenantPattern.test(tenant) && tenant !== "." && tenant !== "..") return tenant;
  throw invalid(`A tenant id is 1–${limits.tenantCharsMax} letters, digits, ".", "_" or "-"; got ${show(tenant)}.`);
}
