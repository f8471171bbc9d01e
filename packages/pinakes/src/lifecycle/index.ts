/** Deletes collections in every store that holds their data (RFC 0007). */
export type { Catalogue } from "./catalogue.ts";
export { Lifecycle, lifecycleTenant } from "./lifecycle.ts";
export { lifecycleLimits } from "./limits.ts";
export type { LifecycleMetrics } from "./metrics.ts";
export {
  failureOf,
  reportOf,
  type Operation,
  type OperationStatus,
  type StoreReport,
  type StoreRow,
} from "./operation.ts";
export { operationItemId, type StoredOperation } from "./operations.ts";
export type {
  HeldIncarnations,
  Incarnation,
  Participant,
  ParticipantCapabilities,
  ParticipantInfo,
} from "./participant.ts";
export type { RegisteredParticipant } from "./participants.ts";
export type { HeldOrphan, Orphan } from "./reconcile.ts";
export { serveParticipant, type ParticipantHandlers, type ServedParticipant } from "./serve-participant.ts";
export {
  checkTopicPrefix,
  object_storage_management_topic,
  storage_management_response_topic,
  Topics,
  triples_storage_management_topic,
  vector_storage_management_topic,
  type StoreClass,
  storeClasses,
} from "./topics.ts";
