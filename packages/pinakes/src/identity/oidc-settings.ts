/** The issuers whose tokens are accepted, as configured by the operator. */
import { z } from "zod";
import { makeCaller } from "../domain/caller.ts";
import { PinakesError, invalid } from "../domain/errors.ts";
import { identityLimits } from "./limits.ts";

export interface OidcSettings {
  /** Exactly as in the `iss` of its tokens. */
  readonly issuer: string;
  /** One of these must be in `aud`. */
  readonly audience: string | readonly string[];
  /** If absent, discovered through the issuer's `/.well-known/openid-configuration`. */
  readonly jwksUri?: string;
  /** Default `sub`. A name with dots may also be a path to a nested claim: `realm_access.roles`. */
  readonly userClaim?: string;
  /** Default `groups`; a list, or names separated by spaces. */
  readonly groupsClaim?: string;
  /** Default `workspace`, unless `workspace` is set. */
  readonly workspaceClaim?: string;
  /** One workspace for all tokens of this issuer, instead of a claim. */
  readonly workspace?: string;
  readonly adminGroups?: readonly string[];
  readonly repositoryAdminGroups?: readonly string[];
  /**
   * If it contains `purge`, the bearer may permanently remove what they may delete: a list, or names separated by spaces; other names are
   * ignored. If absent, no token may.
   */
  readonly permissionsClaim?: string;
  /** The claim with the scopes of a token; default `scope`. */
  readonly scopesClaim?: string;
  /** A token without one of these is read-only. If absent, every token may write. */
  readonly writeScopes?: readonly string[];
  /** A token with one of these has the role. */
  readonly adminScopes?: readonly string[];
  readonly repositoryAdminScopes?: readonly string[];
}

/** What a client needs to know about an issuer. */
export interface Issuer {
  readonly issuer: string;
  /** The scopes that a client requests by default, without those of admins. */
  readonly scopes: readonly string[];
  /** The scope to request if a token is read-only. */
  readonly writeScope: string | undefined;
}

export function issuerOf({ issuer, writeScopes = [] }: OidcSettings): Issuer {
  return { issuer, scopes: writeScopes, writeScope: writeScopes[0] };
}

const claim = z.string().min(1, "must name a claim").max(identityLimits.claimNameCharsMax).optional();
const groupNames = z.array(z.string().min(1)).max(identityLimits.roleGroupsMax).optional();
const scopeName = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, "must be an OAuth scope");
const scopeNames = z.array(scopeName).min(1).max(identityLimits.roleGroupsMax).optional();
const audience = z.string().min(1, "must not be empty");

const Settings = z.strictObject({
  issuer: z
    .string()
    .refine(isSafeUrl, "must be an https:// address (http:// only for this machine), exactly as in the tokens"),
  audience: z.union([audience, z.array(audience).min(1).max(identityLimits.audiencesMax)], {
    error: "must be the audience of the tokens, or a list of audiences",
  }),
  jwksUri: z.string().refine(isSafeUrl, "must be an https:// address (http:// only for this machine)").optional(),
  userClaim: claim,
  groupsClaim: claim,
  workspaceClaim: claim,
  workspace: z.string().optional(),
  adminGroups: groupNames,
  repositoryAdminGroups: groupNames,
  permissionsClaim: claim,
  scopesClaim: claim,
  writeScopes: scopeNames,
  adminScopes: scopeNames,
  repositoryAdminScopes: scopeNames,
});

/**
 * Accepts one object or a list.
 *
 * @example
 * readOidcSettings({ issuer: "https://login.example.com", audience: "pinakes", workspace: "default", adminGroups: ["ops"] })
 */
export function readOidcSettings(json: unknown): readonly OidcSettings[] {
  const list: readonly unknown[] = Array.isArray(json) ? json : [json];
  if (list.length > identityLimits.issuersMax)
    throw invalid(`OIDC settings: ${list.length} issuers; at most ${identityLimits.issuersMax} are allowed.`);
  const settings = list.map((entry, i) =>
    readOne(entry, Array.isArray(json) ? `OIDC settings, entry ${i} (counting from 0)` : "OIDC settings"),
  );
  const issuers = new Set<string>();
  for (const { issuer } of settings) {
    if (issuers.has(issuer))
      throw invalid(
        `OIDC settings: the issuer "${issuer}" is configured twice; use one entry with a list of audiences.`,
      );
    issuers.add(issuer);
  }
  return Object.freeze(settings);
}

/** Anyone who can change the keys in transit can sign in as any user, so they must be fetched over TLS. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return (
    url.protocol === "https:" ||
    (url.protocol === "http:" && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname))
  );
}

function readOne(entry: unknown, where: string): OidcSettings {
  const result = Settings.safeParse(entry);
  if (!result.success) {
    const issues = result.error.issues
      .slice(0, 5)
      .map(({ path, message }) => `${path.length === 0 ? "the entry" : path.map(String).join(".")}: ${message}`);
    throw invalid(`${where}: ${issues.join("; ")}.`);
  }
  const { workspace, workspaceClaim } = result.data;
  if (workspace !== undefined && workspaceClaim !== undefined)
    throw invalid(`${where}: set workspace or workspaceClaim, not both.`);
  if (workspace !== undefined) checkWorkspace(workspace, where);
  // Omits absent settings instead of setting them to undefined.
  return Object.freeze(
    Object.fromEntries(Object.entries(result.data).filter(([, value]) => value !== undefined)),
  ) as unknown as OidcSettings;
}

function checkWorkspace(workspace: string, where: string): void {
  try {
    makeCaller({ tenant: workspace, userId: "anybody" });
  } catch (error) {
    throw PinakesError.isInstance(error) ? invalid(`${where}: workspace: ${error.detail}`, { cause: error }) : error;
  }
}
