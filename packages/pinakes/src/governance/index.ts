/** Who may see what, who did what, and what is gone. */
export { erasureReason, Fences, fencedItems } from "./erasure/fences.ts";
export { stores as erasureStores, otherContainers, type StoreRow } from "./erasure/stores.ts";
export type { ErasurePage, Erasures } from "./erasure/erasures.ts";
export { Governance, openGovernance } from "./governance.ts";
export type { Holds } from "./holds/holds.ts";
export { governanceLimits } from "./limits.ts";
export { checkReceipt } from "./receipts/jws.ts";
export { verifyReceipts, type ReceiptsCheck } from "./receipts/verify-chain.ts";
