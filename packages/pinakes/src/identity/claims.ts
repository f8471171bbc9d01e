/**
 * Turns the claims of a verified token into a caller. Missing or invalid claims are named: the token is genuine, so its bearer may know.
 */
import { permissions } from "@pinakes/client";
import type { JWTPayload } from "jose";
import { makeCaller, type Caller } from "../domain/caller.ts";
import { PinakesError } from "../domain/errors.ts";
import type { OidcSettings } from "./oidc-settings.ts";

export function callerOfClaims(claims: JWTPayload, settings: OidcSettings): Caller {
  const {
    userClaim = "sub",
    groupsClaim = "groups",
    workspaceClaim = "workspace",
    adminGroups = [],
    repositoryAdminGroups = [],
    permissionsClaim,
    adminScopes = [],
    repositoryAdminScopes = [],
  } = settings;
  const groups = namesIn(claims, groupsClaim);
  const granted = permissionsClaim === undefined ? [] : namesIn(claims, permissionsClaim);
  const scopes = scopesOf(claims, settings);
  const has = (groupNames: readonly string[], scopeNames: readonly string[]): boolean =>
    groupNames.some((group) => groups.includes(group)) || scopeNames.some((scope) => scopes.includes(scope));
  const input = {
    tenant: settings.workspace ?? textIn(claims, workspaceClaim, "its workspace"),
    userId: textIn(claims, userClaim, "its user"),
    groups,
    role: has(adminGroups, adminScopes)
      ? "admin"
      : has(repositoryAdminGroups, repositoryAdminScopes)
        ? "repository_admin"
        : "user",
    permissions: permissions.filter((one) => granted.includes(one)),
  } as const;
  try {
    return makeCaller(input);
  } catch (error) {
    throw PinakesError.isInstance(error) ? unusable(error.detail, error) : error;
  }
}

/** The token lacks the scopes for writing. */
export function isReadOnly(claims: JWTPayload, settings: OidcSettings): boolean {
  const { writeScopes, adminScopes = [], repositoryAdminScopes = [] } = settings;
  if (writeScopes === undefined) return false;
  const scopes = scopesOf(claims, settings);
  return ![...writeScopes, ...adminScopes, ...repositoryAdminScopes].some((scope) => scopes.includes(scope));
}

function scopesOf(claims: JWTPayload, { scopesClaim = "scope" }: OidcSettings): readonly string[] {
  return namesIn(claims, scopesClaim);
}

function textIn(claims: JWTPayload, claim: string, what: string): string {
  const value = valueOf(claims, claim);
  if (typeof value === "string" && value !== "") return value;
  throw unusable(`it lacks the claim "${claim}", a string with ${what}.`);
}

function namesIn(claims: JWTPayload, claim: string): readonly string[] {
  const value = valueOf(claims, claim);
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return value.split(" ").filter((group) => group !== "");
  if (Array.isArray(value) && value.every((group) => typeof group === "string")) return value;
  throw unusable(`its claim "${claim}" must be a list of names, or a string of names separated by spaces.`);
}

/** The claim with this exact name (many contain dots: https://example.com/groups), or else the nested value at this path. */
function valueOf(claims: JWTPayload, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  let value: unknown = claims;
  for (const name of claim.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function unusable(detail: string, cause?: unknown): PinakesError {
  return new PinakesError(
    "UNAUTHENTICATED",
    `The token is genuine but cannot be used: ${detail} Ask the administrator of the sign-in provider.`,
    cause === undefined ? {} : { cause },
  );
}
