/** API keys and who calls. */
/**
 * `admin` may do everything in the workspace; `repository_admin` everything inside the repositories it reaches, but not decide who reaches
 * them; `user` what its groups may.
 */
export const roles = ["admin", "repository_admin", "user"] as const;
export type Role = (typeof roles)[number];

/** What a role does not include. `purge`: to remove permanently what one may delete. `audit`: to read the audit log. */
export const permissions = ["purge", "audit"] as const;
export type Permission = (typeof permissions)[number];

export const keyScopes = ["read", "write"] as const;
export type KeyScope = (typeof keyScopes)[number];

/** What a caller was recognised by. */
export type AuthenticatedBy = "root" | "key" | "token" | "session" | "embedded" | "local";

/** Who is calling. */
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
  /** Of a session: requests that change something send it back. Pages of other origins cannot read the answer. */
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
  /** Users of the workspace that the key may act for, beside its own; absent from servers of before: none. */
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
  /** With `account`: what Cosmos DB's clients take for their key; it is not shown again either. */
  readonly account_key?: string;
}

export interface NewKey {
  /** Also an account key for clients of Cosmos DB (`/cosmos`); its role is `admin` unless given. */
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
