/** Audit logs over a store, as several processes would have them. */
import { systemScope } from "../../../src/domain/scope.ts";
import { AuditLog, type AuditEvent, type AuditLogDependencies } from "../../../src/governance/audit-log/audit-log.ts";
import { AuditApi } from "../../../src/governance/audit-log/audit-api.ts";
import {
  verifyExport,
  type Verification,
  type VerifyOptions,
} from "../../../src/governance/audit-log/verify-export.ts";
import { makeCaller } from "../../../src/domain/caller.ts";
import { grant, type Authenticated } from "../../../src/identity/authenticated.ts";
import type { ItemStore } from "../../../src/ports/item-store.ts";

export const seed = Buffer.alloc(32, 7).toString("base64");

export function openAudit(items: ItemStore, more: Partial<AuditLogDependencies> = {}): Promise<AuditLog> {
  return AuditLog.open({
    items,
    system: systemScope("audit: test", () => {}),
    clock: { now: () => Date.now() },
    log: () => {},
    mode: "changes",
    storeId: "store-1",
    seeds: () => [seed],
    ...more,
  });
}

export function admin(tenant: string, userId = "ann"): Authenticated {
  return grant({ caller: makeCaller({ tenant, userId, role: "admin" }), via: "key", keyId: "k1" });
}

export function event(more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    verb: "delete",
    action: "deleteCollection",
    outcome: "ok",
    status: 202,
    userId: "ann",
    role: "admin",
    via: "key",
    keyId: "k1",
    resource: "collections",
    fields: { rid: "kb", cid: "papers" },
    face: "http",
    ip: "192.0.2.7",
    userAgent: "curl/8",
    requestId: "r1",
    ...more,
  };
}

export async function exportOf(
  audit: AuditLog,
  auth: Authenticated,
  options: Parameters<AuditApi["export"]>[1] = {},
): Promise<Buffer> {
  const texts = await Array.fromAsync(new AuditApi(audit).export(auth, options));
  return Buffer.from(texts.join(""));
}

/** The verification of a whole export of the log now. */
export async function verified(
  audit: AuditLog,
  auth: Authenticated,
  options: VerifyOptions = {},
): Promise<Verification & { readonly bytes: Buffer }> {
  const bytes = await exportOf(audit, auth);
  return { ...(await verifyExport([bytes], options)), bytes };
}
