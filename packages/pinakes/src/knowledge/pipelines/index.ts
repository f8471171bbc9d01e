export { PipelineDesk, type NotifiedPipeline } from "./pipeline-desk.ts";
export { Pipelines, type PipelinePlan, type PipelineView } from "./pipelines.ts";
export { pipelinesContainer } from "./pipeline-registry.ts";
export type { BucketPlace, FolderPlace, PipelinePlaces } from "./places.ts";
export type { NewPipeline } from "./settings.ts";
