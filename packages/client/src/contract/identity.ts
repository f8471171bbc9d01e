/** API keys and who calls. */
/**
 * `admin` has full access to the workspace; `repository_admin` has full access inside the repositories visible to it, but cannot change who
 * may see them; `user` has the access of its groups.
 */
export const roles = ["admin", "repository_admin", "user"] as const;
export type Role = (typeof roles)[number];

/** Permissions that a role does not include. `purge`: permanently remove what the caller may delete. `audit`: read the audit log. */
export const permissions = ["purge", "audit"] as const;
export type Permission = (typeof permissions)[number];

export const keyScopes = ["read", "write"] as const;
export type KeyScope = (typeof keyScopes)[number];

/** How a caller was authenticated. */
export type AuthenticatedBy = "root" | "key" | "token" | "session" | "embedded" | "local";

/** The authenticated caller. */
export interface Me {
  readonly user_id: string;
  readonly workspace_id: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly via: AuthenticatedBy;
  readonly key_id: string | null;
  readonly expires_at: string | null;
  readonly read_only: boolean;
  /** Users that the credential may act for; absent: none. */
  readonly act_as?: readonly string[];
  /** For a session: write requests send it back. Pages of other origins cannot read the response. */
  readonly csrf_token?: string;
}

export interface Key {
  readonly key_id: string;
  readonly name: string | null;
  readonly user_id: string;
  readonly workspace_id: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly permissions: readonly Permission[];
  readonly scopes: readonly KeyScope[];
  /** Users of the workspace that the key may act for, besides its own; absent from older servers: none. */
  readonly act_as?: readonly string[];
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  /** Also signs requests of Cosmos DB's clients. */
  readonly account: boolean;
}

/** `key` is the secret; no later call shows it. */
export interface CreatedKey extends Key {
  readonly key: string;
  /** With `account`: the key for Cosmos DB clients; it is not shown again either. */
  readonly account_key?: string;
}

export interface NewKey {
  /** Also creates an account key for Cosmos DB clients (`/cosmos`); its role is `admin` unless specified. */
  readonly account?: boolean | undefined;
  readonly user_id: string;
  readonly workspace_id?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly role?: Role | undefined;
  readonly permissions?: readonly Permission[] | undefined;
  readonly name?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly scopes?: readonly KeyScope[] | undefined;
  readonly act_as?: readonly string[] | undefined;
}
