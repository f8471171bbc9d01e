/** Pinakes, embedded: everything for a program that keeps its stores in its own process. */
export { open, type OpenOptions, type Pinakes, type PinakesInfo, type Readiness } from "./open.ts";
export { openEmbedded, type EmbeddedClient, type EmbeddedOptions } from "./embedded.ts";
export { readConfig, type Config } from "./config.ts";
export { hasCode, PinakesError, type ErrorCode } from "./domain/errors.ts";
export { tenantScope, type Scope, type SystemScope } from "./domain/scope.ts";
export { limits } from "./domain/limits.ts";
export type { Filter } from "./domain/filter.ts";
export type { JsonObject, JsonValue } from "./domain/json.ts";
export type { PatchStep } from "./domain/patch.ts";
export * from "./containers/index.ts";
export type * from "./ports/item-store.ts";
export type * from "./ports/object-store.ts";
export type * from "./ports/queue.ts";
export type * from "./ports/embedder.ts";
export type * from "./ports/parser.ts";
export type * from "./ports/triple-store.ts";
export type { Quad, Term, TermText } from "./domain/rdf.ts";
export type { Caller, CallerInput, Role } from "./domain/caller.ts";
export type { Chunk, ChunkingStrategy, ChunkingType } from "./domain/chunking.ts";
export type * from "./identity/index.ts";
export type * from "./knowledge/index.ts";
export {
  folderReader as transferFolderReader,
  graphLimits,
  knowledgeLimits,
  quotaDefaults,
  readTransferNames,
  writeFolder as writeTransferFolder,
} from "./knowledge/index.ts";
export type * from "./migrations/index.ts";
export type {
  Incarnation,
  Lifecycle,
  Operation as LifecycleOperation,
  Orphan,
  ParticipantCapabilities,
  ParticipantHandlers,
  ParticipantInfo,
  RegisteredParticipant,
  ServedParticipant,
  StoreClass,
  StoreReport,
} from "./lifecycle/index.ts";
export {
  object_storage_management_topic,
  serveParticipant,
  storage_management_response_topic,
  triples_storage_management_topic,
  vector_storage_management_topic,
} from "./lifecycle/index.ts";
export type * from "./state/index.ts";
export { MemorySchema, MetricSchema, ToolInvocationSchema, WorkflowSchema } from "./state/index.ts";
export type * from "./vectors/index.ts";
export {
  announceDelta,
  dropBoxQueue,
  folderReader,
  importLayout,
  objectsReader,
  vectorLimits,
} from "./vectors/index.ts";
export { systemClock, type Clock } from "./ports/clock.ts";
