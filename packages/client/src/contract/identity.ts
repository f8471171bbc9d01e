/** API keys and who calls. */
export const roles = ["user", "repository_admin", "admin"] as const;
export type Role = (typeof roles)[number];

export interface Key {
  readonly key_id: string;
  readonly name: string | null;
  readonly user_id: string;
  readonly workspace_id: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly scopes: readonly ("read" | "write")[];
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** `key` is the secret; no later call shows it. */
export interface CreatedKey extends Key {
  readonly key: string;
}

export interface NewKey {
  readonly user_id: string;
  readonly workspace_id?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly role?: Role | undefined;
  readonly permissions?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly scopes?: readonly ("read" | "write")[] | undefined;
}
