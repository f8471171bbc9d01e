/** How erasures, receipts, holds, subject exports, lifetimes and the audit log are called against somebody else's things. */
import type { HowToCall } from "./leak-calls.ts";

const thing: HowToCall = { kind: "thing" };

export const howToCallGovernance: Readonly<Record<string, readonly HowToCall[]>> = {
  createErasure: [
    { kind: "admin", body: () => ({ subject: { type: "user", id: "nobody-at-all" }, dry_run: true }) },
    { kind: "admin", body: () => ({ subject: { type: "workspace", id: "w1" } }) },
  ],
  listErasures: [{ kind: "admin" }],
  getErasure: [{ ...thing, adminsOnly: true }],
  getErasureReceipt: [{ ...thing, adminsOnly: true }],
  verifyErasure: [
    { ...thing, adminsOnly: true, changes: false, body: () => ({ subject: { type: "user", id: "ada" } }) },
  ],
  listErasureReceipts: [{ kind: "admin" }],
  getErasureReceiptKey: [{ kind: "admin" }],
  createSubjectExport: [
    { kind: "admin", body: () => ({ subject: { type: "user", id: "nobody-at-all" } }) },
    { kind: "admin", body: () => ({ subject: { type: "workspace", id: "w1" } }) },
  ],
  listSubjectExports: [{ kind: "admin" }],
  getSubjectExport: [{ ...thing, adminsOnly: true }],
  deleteSubjectExport: [{ ...thing, adminsOnly: true }],
  getSubjectExportPart: [{ ...thing, adminsOnly: true }],
  createLegalHold: [{ kind: "admin", body: () => ({ scope: { type: "workspace" }, reason: "probe" }) }],
  listLegalHolds: [{ kind: "admin" }],
  getLegalHold: [{ ...thing, adminsOnly: true }],
  releaseLegalHold: [{ ...thing, adminsOnly: true }],
  listRetention: [{ kind: "same", workspaceWide: true }],
  getRetention: [{ ...thing, workspaceWide: true }],
  setRetention: [{ ...thing, adminsOnly: true, body: () => ({ seconds: 5 }) }],
  previewRetention: [{ ...thing, adminsOnly: true, changes: false, body: ({ c }) => ({ name: c, seconds: 5 }) }],
  listAudit: [{ kind: "admin" }, { kind: "admin", query: ({ rid, cid }) => `resource=${rid}%2F${cid}` }],
  getAuditCheckpoint: [{ kind: "admin" }],
  proveAuditInclusion: [{ kind: "admin", query: () => "index=0" }],
  proveAuditConsistency: [{ kind: "admin", query: () => "from=0" }],
  exportAudit: [{ kind: "admin" }, { kind: "admin", query: () => "format=csv" }],
};
