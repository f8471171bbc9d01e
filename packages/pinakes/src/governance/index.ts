/** Audit log, access explanations, erasures and legal holds. */
export * from "./audit-log/index.ts";
export { erasureReason, Fences, fencedItems } from "./erasure/fences.ts";
export { stores as erasureStores } from "./erasure/stores.ts";
export { Governance, openGovernance } from "./governance.ts";
export { governanceApi } from "./governance-api.ts";
export type { GovernedLifetime, RetentionDependencies } from "./retention/retention.ts";
export { RetentionStore } from "./retention/retention-store.ts";
export { governanceLimits } from "./limits.ts";
export { checkReceipt } from "./receipts/jws.ts";
export { verifyReceipts, type ReceiptsCheck } from "./receipts/verify-chain.ts";
