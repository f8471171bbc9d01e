/** What agents know. */
export { openKnowledge, type OpenedKnowledge, type OpenKnowledgeOptions } from "./open-knowledge.ts";
export {
  auditLimits,
  findingKinds,
  walkWorkspaces,
  type Audit,
  type AuditFigures,
  type Finding,
  type FindingKind,
  type FsckInput,
  type AuditReport,
} from "./audit/index.ts";
export { quarantineLimits, type QuarantineQuery } from "./quarantine/index.ts";
export { Knowledge } from "./knowledge.ts";
export type { DeleteOptions } from "./jobs/begin-work.ts";
export { deletionWarnings } from "./jobs/deletion-lag.ts";
export type { ListPage } from "./paging.ts";
export { knowledgeLimits, openPlaces, quotaDefaults, readQuotas, type Quotas } from "./limits.ts";
export type { Embedders, KnowledgeParts } from "./parts.ts";
export type {
  CollectionChange,
  CollectionView,
  DocumentView,
  IndexingStatus,
  JobView,
  OperationView,
  RepositoryView,
  StoreView,
  UploadedDocument,
} from "./views.ts";
export type {
  BucketPlace,
  FolderPlace,
  NewPipeline,
  NotifiedPipeline,
  PipelinePlaces,
  PipelinePlan,
  PipelineView,
} from "./pipelines/index.ts";
export type { NewRepository, RepositoryPatch } from "./model/repositories.ts";
export type { CollectionPatch, NewCollection } from "./model/collections.ts";
export type { Intake, IntakePlace, IntakeRecord, IntakeTarget } from "./model/intake.ts";
export type { OperationQuery } from "./jobs/operation-desk.ts";
export { collectionSorts, type CollectionQuery } from "./model/list-collections.ts";
export type { ManagementAnswer } from "./librarian.ts";
export { managementOperations, managementSchema } from "./librarian-request.ts";
export type { AcrossQuery, TaggedTriple, TriplePage, TripleQuery, TripleRemoval } from "./graph/graph-desk.ts";
export { graphLimits } from "./graph/graph-limits.ts";
export type { CollectionName } from "./search/query-answer.ts";
export { stoppedLoad, type LoadError, type LoadInput, type LoadResult } from "./graph/load-triples.ts";
export type { SparqlAnswer, SparqlInput, SparqlSettings, SparqlUpdated } from "./graph/ask-sparql.ts";
export {
  tripleView,
  type PatternInput,
  type TermInput,
  type TripleInput,
  type TripleView,
} from "./graph/triple-view.ts";
export { textWindowCharsMax } from "./documents/document-text.ts";
export type { DocumentQuery, Passage } from "./documents/documents.ts";
export { uploadedFrom, type UploadInput } from "./documents/upload.ts";
export { calibrate, refusals } from "./evaluation/calibrate.ts";
export type { SearchInput, SearchPlace } from "./search/search-input.ts";
export type {
  Citation,
  GraphEdgeView,
  GraphEntityView,
  GraphSourceView,
  SearchHit,
  SearchMode,
  SearchResult,
} from "./search/search-result.ts";
export type { ProvenanceView } from "./search/provenance.ts";
export type { GraphSettings } from "./extraction/index.ts";
export type { CitationCheck, CitationToVerify } from "./citations.ts";
export {
  defaultNames,
  folderReader,
  readTransferNames,
  writeFolder,
  type CopyPlace,
  type LifeRow,
  type Move,
  type WantedMove,
  type ExportOptions,
  type ImportNote,
  type ImportOptions as TransferImportOptions,
  type ImportReport,
  type TransferFile,
  type TransferNames,
  type TransferReader,
} from "./transfer/index.ts";
export { readChunkingStrategy } from "./chunking/index.ts";
export { readBeir, type BeirSet } from "./evaluation/beir.ts";
export { nameOf, readConfiguration, type Configuration } from "./evaluation/configuration.ts";
export type { NewEvaluation } from "./evaluation/evaluation-input.ts";
export type { EvaluationRun, EvaluationView } from "./evaluation/evaluations.ts";
export { compareEvaluated, evaluateSet, type Evaluated, type NamedConfiguration } from "./evaluation/run-evaluation.ts";
