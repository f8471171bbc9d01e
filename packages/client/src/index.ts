/** The client of Pinakes: the same interface to a server as to an embedded one. No dependencies; runs in browsers and at the edge. */
export type * from "./json.ts";
export type * from "./api/common.ts";
export type * from "./api/workflows-api.ts";
export type * from "./api/memories-api.ts";
export type * from "./api/series-api.ts";
export type * from "./api/containers-api.ts";
export type * from "./api/state-api.ts";
export type * from "./api/knowledge-api.ts";
export type * from "./api/audit-api.ts";
export type * from "./api/governance-api.ts";
export * from "./contract/answers.ts";
export * from "./contract/audit.ts";
export * from "./contract/common.ts";
export * from "./contract/containers.ts";
export * from "./contract/governance.ts";
export * from "./contract/graph.ts";
export * from "./contract/identity.ts";
export * from "./contract/knowledge.ts";
export * from "./contract/migrations.ts";
export * from "./contract/operations.ts";
export * from "./contract/pipelines.ts";
export * from "./contract/search.ts";
export * from "./contract/series.ts";
export * from "./contract/state.ts";
export * from "./contract/errors.ts";
export * from "./contract/vectors.ts";
export { connect, pinakesClient, type ConnectOptions, type PinakesClient } from "./connect.ts";
export {
  waitForErasure,
  waitForExport,
  type DownloadedPart,
  type ErasuresClient,
  type GovernanceClient,
  type ReceiptsClient,
  type SubjectExportsClient,
} from "./governance-client.ts";
export { collectionOf, collectionsOf } from "./collection-ref.ts";
export {
  createKnowledgeClient,
  type DocumentsClient,
  type JobsClient,
  type KnowledgeClient,
  type UploadOptions,
  type UploadProgress,
  type WaitOptions,
} from "./knowledge-client.ts";
export { httpKnowledge } from "./http/knowledge.ts";
export { piecesOf } from "./http/multipart.ts";
export {
  createClient,
  createStateClient,
  type MemoriesClient,
  type MetricsClient,
  type StateClient,
  type ThreadsClient,
  type ToolsClient,
  type WorkflowsClient,
} from "./state-client.ts";
export { httpApi } from "./http/http-api.ts";
export type { HttpOptions } from "./http/request.ts";
export {
  ConflictError,
  invalidInput,
  NotFoundError,
  PinakesClientError,
  PreconditionFailedError,
  RateLimitedError,
  type BatchFailure,
} from "./errors.ts";
export type { ContainerClient, FollowChanges, FollowedChange } from "./sugar/container-client.ts";
export { citedMetadata, type CitedMetadata } from "./sugar/cited-metadata.ts";
export { decodeId, encodeId } from "./sugar/document-id.ts";
export { inBatches, threadMessagesMax } from "./sugar/in-batches.ts";
export { isSameJson } from "./sugar/is-same-json.ts";
export type { Listing } from "./sugar/listing.ts";
export type { Recorder, RecorderOptions } from "./sugar/recorder.ts";
export { addRows, removeRows, type AddRows, type RowStore } from "./sugar/rows.ts";
export {
  searchTool,
  type SearchTool,
  type SearchToolInput,
  type SearchToolOptions,
  type SearchToolOutput,
  type SearchToolResult,
  type SearchToolSchema,
} from "./sugar/search-tool.ts";
export { toJsonObject } from "./sugar/to-json-object.ts";
export type { UpdateOptions } from "./sugar/update.ts";
