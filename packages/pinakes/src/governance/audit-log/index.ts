/** The audit log: who did what, provably (RFC 0013). */
export { AuditApi } from "./audit-api.ts";
export { AuditLog, type AuditMode } from "./audit-log.ts";
export { auditedKnowledge, auditedState } from "./audited-api.ts";
export { auditSeeds } from "./key-file.ts";
export { AuditRecorder, type CallEnd, type CallVerb, type RecordedCall } from "./recorder.ts";
export { verifyExport, type Verification } from "./verify-export.ts";
