/** Knowledge: repositories, collections, documents and search. */
export { answerLimits, type AskInput } from "../answers/index.ts";
export { openKnowledge, type OpenedKnowledge, type OpenKnowledgeOptions } from "./open-knowledge.ts";
export {
  auditLimits,
  walkWorkspaces,
  type Audit,
  type AuditFigures,
  type Finding,
  type FindingKind,
  type FsckInput,
  type AuditReport,
} from "../audit/index.ts";
export { quarantineLimits, type QuarantineQuery } from "../audit/quarantine/index.ts";
export { SubjectObjects } from "./erasure/subject-objects.ts";
export type { KnowledgeErasure, OwnRow } from "./erasure/knowledge-erasure.ts";
export { Later, type Jobs, type JobRecord, type JobTools } from "./jobs/jobs.ts";
export { ownerOf } from "./files/file-records.ts";
export { Knowledge } from "./api/knowledge.ts";
export type { DeleteOptions } from "./api/begin-work.ts";
export type { ListPage } from "./records/paging.ts";
export { knowledgeLimits, openSlots, quotaDefaults, readQuotas, trashMs, type Quotas } from "./limits.ts";
export type { Embedders, KnowledgeDependencies } from "./dependencies.ts";
export {
  CollectionSchema,
  DocumentSchema,
  RepositorySchema,
  type CollectionChange,
  type CollectionView,
  type DocumentView,
  type IndexingStatus,
  type JobView,
  type OperationView,
  type RepositoryView,
  type StoreView,
  type UploadedDocument,
} from "./views.ts";
export type {
  AllowedBucket,
  AllowedFolder,
  NotifiedPipeline,
  PipelineLocations,
  PipelinePlan,
  PipelineView,
} from "../pipelines/index.ts";
export type { NewPipeline } from "./records/new-pipeline.ts";
export type { NewRepository, RepositoryPatch } from "./collections/repositories.ts";
export type { NewCollection } from "./collections/collections.ts";
export type { CollectionPatch } from "./collections/collection-patch.ts";
export type { MigrationTarget, TargetIncarnation, TargetRecord, TargetAddress } from "../transfer/migration-target.ts";
export type { OperationQuery } from "./api/operations-api.ts";
export type { CollectionQuery } from "./collections/list-collections.ts";
export { defaultCollectionId, isPersonalId, personalAlias } from "./records/ids.ts";
export { checkDescription, checkFileName, checkName } from "./records/names.ts";
export type { AcrossQuery, TaggedTriple, TriplePage, TripleQuery, TripleRemoval } from "./graph/triple-query.ts";
export { graphLimits } from "./graph/graph-limits.ts";
export type { CollectionName } from "./collections/query-options.ts";
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
export { passageFields } from "./documents/document-metadata.ts";
export type { AttachedFile, AttachedStatus, FileToAttach } from "./files/attachments.ts";
export type { FileBatch } from "./files/file-batches.ts";
export { filePurposes, type FileRecord, type PartRecord } from "./files/file-records.ts";
export { partIdOf, type FileUploadView } from "./files/file-uploads.ts";
export type { FileSettings } from "./files/files.ts";
export { fileLimits } from "./files/limits.ts";
export { stagedUri, type StagedFile, type StagingGrant } from "./files/staging.ts";
export { readTriple } from "./graph/triple-view.ts";
export type { CoreMessage } from "./library/library-cores.ts";
export { chunkMetadata, entityMetadata } from "./library/vector-rows.ts";
export type { LibraryDocumentChange } from "./library/library-documents.ts";
export type {
  CoreKind,
  DocumentFields,
  LibraryDocument,
  LibraryProcessing,
  StoredTerm,
  StoredTriple,
} from "./library/library-records.ts";
export type { UploadStatus } from "./library/library-uploads.ts";
export type { DocumentQuery, Passage } from "./documents/documents.ts";
export { uploadedFrom, type UploadInput } from "./documents/check-upload.ts";
export { calibrate, refusals } from "../evaluation/calibrate.ts";
export type { SearchInput } from "./search/search-input.ts";
export type { SearchTarget } from "./collections/query-options.ts";
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
export type { CitationCheck, CitationToVerify } from "./search/citations.ts";
export {
  defaultNames,
  folderReader,
  readTransferNames,
  writeFolder,
  type CopyProgress,
  type IncarnationRow,
  type Move,
  type WantedMove,
  type ExportOptions,
  type ImportNote,
  type ImportOptions as TransferImportOptions,
  type ImportReport,
  type TransferFile,
  type TransferNames,
  type TransferReader,
} from "../transfer/index.ts";
export { readChunkingStrategy } from "./chunking/index.ts";
export { readBeir, type BeirSet } from "../evaluation/beir.ts";
export { nameOf, readConfiguration, type Configuration } from "../evaluation/configuration.ts";
export type { NewEvaluation } from "../evaluation/evaluation-input.ts";
export type { EvaluationRun, EvaluationView } from "../evaluation/evaluations.ts";
export {
  compareEvaluated,
  evaluateSet,
  type Evaluated,
  type NamedConfiguration,
} from "../evaluation/run-evaluation.ts";
