/** Validates a request for a new key, field by field. */
import { keyScopes, permissions, roles } from "@pinakes/client";
import { z } from "zod";
import { makeCaller, type Permission } from "../domain/caller.ts";
import { invalid } from "../domain/errors.ts";
import { identityLimits } from "./limits.ts";

const KeyInput = z.strictObject({
  user_id: z.string(),
  workspace_id: z.string().optional(),
  groups: z.array(z.string()).default([]),
  account: z.boolean().default(false),
  role: z.enum(roles).optional(),
  permissions: z.array(z.enum(permissions)).default([]),
  name: z
    .string()
    .max(identityLimits.keyNameCharsMax, `must have at most ${identityLimits.keyNameCharsMax} characters`)
    .regex(/^\P{Cc}*$/u, "must not contain control characters")
    .nullish(),
  expires_at: z.iso
    .datetime({ message: "must be an ISO 8601 time in UTC, such as 2030-01-01T00:00:00.000Z" })
    .nullish(),
  scopes: z
    .array(z.enum(keyScopes))
    .refine((scopes) => scopes.includes("read"), `must be ["read"] for a read-only key, or ["read", "write"]`)
    .optional(),
  act_as: z
    .array(z.string())
    .max(identityLimits.actAsUsersMax, `must have at most ${identityLimits.actAsUsersMax} users`)
    .default([]),
});

export type CreateKey = z.input<typeof KeyInput>;

export interface CheckedKey {
  readonly user_id: string;
  readonly groups: string[];
  readonly role: (typeof roles)[number];
  readonly permissions: Permission[];
  readonly name: string | null;
  readonly expires_at: string | null;
  readonly read_only: boolean;
  readonly act_as: string[];
  /** Absent in records without one. */
  readonly account?: true;
}

/** Reads only the workspace, which decides whether the caller may create keys at all. */
export function workspaceNamed(input: unknown): string | undefined {
  const named: unknown =
    typeof input === "object" && input !== null && "workspace_id" in input ? input.workspace_id : undefined;
  if (named === undefined || typeof named === "string") return named;
  throw invalid("workspace_id: must be a string.");
}

export function checkKeyInput(input: unknown, workspace: string, now: number): CheckedKey {
  const result = KeyInput.safeParse(input);
  if (!result.success) {
    const issues = result.error.issues
      .slice(0, 5)
      .map(({ path, message }) => `${path.length === 0 ? "the request" : path.map(String).join(".")}: ${message}`);
    throw invalid(`A key needs at least { "user_id": "…" }. Invalid: ${issues.join("; ")}.`);
  }
  const { user_id, groups, account, name, expires_at, scopes } = result.data;
  // Anyone with the key of a Cosmos DB account has full access to it.
  const role = result.data.role ?? (account ? "admin" : "user");
  const caller = makeCaller({ tenant: workspace, userId: user_id, groups, role, permissions: result.data.permissions });
  return {
    user_id,
    groups: [...caller.groups],
    role,
    permissions: [...caller.permissions],
    name: name ?? null,
    expires_at: checkExpiry(expires_at ?? null, now),
    read_only: scopes !== undefined && !scopes.includes("write"),
    act_as: checkUsers(result.data.act_as, workspace),
    ...(account ? { account } : {}),
  };
}

/** Each must be a valid user id; duplicates are removed. */
function checkUsers(users: readonly string[], workspace: string): string[] {
  return [...new Set(users.map((userId) => makeCaller({ tenant: workspace, userId }).userId))];
}

function checkExpiry(expiresAt: string | null, now: number): string | null {
  if (expiresAt === null) return null;
  const at = Date.parse(expiresAt);
  if (!(at > now)) throw invalid(`expires_at: must be in the future; it is ${new Date(now).toISOString()} now.`);
  if (at > now + identityLimits.keyLifetimeMsMax)
    throw invalid("expires_at: is more than 50 years ahead; omit it for a key that does not expire.");
  return new Date(at).toISOString();
}
