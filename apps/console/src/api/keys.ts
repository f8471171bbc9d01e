/** API keys of the workspace. */
import type { Role } from "./identity.ts";
import { pagedOptions } from "./page.ts";
import { path, post, request } from "./request.ts";

export interface Key {
  readonly key_id: string;
  readonly name: string | null;
  readonly user_id: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** The secret itself is in this one answer only. */
export interface MadeKey extends Key {
  readonly key: string;
}

export interface NewKey {
  readonly user_id: string;
  readonly name?: string | undefined;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly scopes: readonly string[];
  readonly expires_at?: string | undefined;
}

export const keysKey = ["keys"] as const;

export const keysOptions = pagedOptions<Key>(keysKey, "/v1/keys");

export function createKey(input: NewKey): Promise<MadeKey> {
  return post<MadeKey>("/v1/keys", input);
}

export async function revokeKey(id: string): Promise<void> {
  await request("DELETE", path`/v1/keys/${id}`);
}
