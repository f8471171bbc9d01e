/** Audits: compares every store with the records. */
export { Audit, type FsckInput } from "./audit.ts";
export type { AuditReport, Finding, FindingKind } from "./finding.ts";
export { auditLimits } from "./limits.ts";
export { AuditRounds, type AuditFigures, type RoundsOptions } from "./rounds.ts";
export { walkWorkspaces } from "./workspaces.ts";
export { auditContainer } from "./suspects.ts";
