/** The audit log: who did what, provably (RFC 0013). */
export { AuditApi, requireAuditor } from "./audit-api.ts";
export { AuditLog, type AuditEvent, type AuditMode } from "./audit-log.ts";
export { auditSeeds } from "./key-file.ts";
export { auditLimits } from "./limits.ts";
export { auditedKnowledge, auditedState } from "./audited-api.ts";
export { AuditRecorder, type CallEnd, type CallVerb, type RecordedCall } from "./recorder.ts";
export { resourceFields } from "./resource-ids.ts";
export type { SubjectKind, SubjectRef } from "./subjects.ts";
export { verifyExport, type Verification } from "./verify-export.ts";
