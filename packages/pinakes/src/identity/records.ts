/**
 * The records of the identity layer, in containers of the system's own tenant. Keys and sessions are partitioned by their id, so that
 * authentication is a point read, which is always consistent; the index is only used for lists and counts.
 *
 * Invariants: no record of a key contains a secret, only its SHA-256 (account keys are derived, account-keys.ts); a key's record is only
 * ever created, touched (last use) and deleted, so nothing can bring a revoked key back.
 */
import { permissions, roles } from "@pinakes/client";
import { z } from "zod";
import { defineContainer, timestamp } from "../containers/index.ts";
import { makeCaller, type Caller } from "../domain/caller.ts";

/** No caller can use it: `tenantScope` rejects names with this prefix. */
export const identityTenant = "pinakes.identity";

const sha256Hex = z.string().regex(/^[0-9a-f]{64}$/);

const person = {
  workspace_id: z.string(),
  user_id: z.string(),
  groups: z.array(z.string()),
  role: z.enum(roles),
  /** Absent in older records: none. */
  permissions: z.array(z.enum(permissions)).optional(),
};

const KeyRecord = z.object({
  id: z.string(),
  secret_sha256: sha256Hex,
  ...person,
  name: z.string().nullable(),
  read_only: z.boolean(),
  /** Users that the key may act for. Absent in older records: none. */
  act_as: z.array(z.string()).optional(),
  /** The key also signs requests of Cosmos DB clients; absent if it does not. */
  account: z.literal(true).optional(),
  created_at: timestamp(),
  created_by: z.string(),
  expires_at: timestamp().nullable(),
  last_used_at: timestamp().nullable(),
  ttl: z.number(),
});
export type KeyRecord = z.output<typeof KeyRecord>;

export const keyContainer = defineContainer({
  name: "identity-keys",
  partitionKey: ["id"],
  schema: KeyRecord,
  indexes: {
    byWorkspace: { partition: ["workspace_id"], sort: ["created_at"] },
    byAccount: { partition: ["account"], sort: ["created_at"] },
  },
  ttl: -1,
});

const SessionRecord = z.object({
  /** SHA-256 of the cookie. */
  id: sha256Hex,
  ...person,
  read_only: z.boolean(),
  /** Created from this key: the session acts for the key and ends with it. */
  key_id: z.string().nullable(),
  /** Created from the root token with this hash: the session ends with it. */
  root_sha256: sha256Hex.nullable(),
  created_at: timestamp(),
  expires_at: timestamp(),
  ttl: z.number(),
});
export type SessionRecord = z.output<typeof SessionRecord>;

export const sessionContainer = defineContainer({
  name: "identity-sessions",
  partitionKey: ["id"],
  schema: SessionRecord,
  ttl: -1,
});

const WorkspaceRecord = z.object({
  id: z.string(),
  /** One partition for all, so that lists are exact. */
  kind: z.literal("workspace"),
  created_at: timestamp(),
  created_by: z.string(),
});
export type WorkspaceRecord = z.output<typeof WorkspaceRecord>;

export const workspaceContainer = defineContainer({
  name: "identity-workspaces",
  partitionKey: ["kind"],
  schema: WorkspaceRecord,
});

type Opened<C> = C extends { open: (...parts: never[]) => Promise<infer R> } ? R : never;
export type KeyRepository = Opened<typeof keyContainer>;
export type SessionRepository = Opened<typeof sessionContainer>;
export type WorkspaceRepository = Opened<typeof workspaceContainer>;

type Person = Pick<KeyRecord, "workspace_id" | "user_id" | "groups" | "role" | "permissions">;

export function callerOf({ workspace_id, user_id, groups, role, permissions: granted = [] }: Person): Caller {
  return makeCaller({ tenant: workspace_id, userId: user_id, groups, role, permissions: granted });
}
