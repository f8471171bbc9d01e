export { PipelinesApi, type NotifiedPipeline } from "./pipelines-api.ts";
export { Pipelines, type PipelinePlan, type PipelineView } from "./pipelines.ts";
export { pipelinesContainer } from "./pipeline-registry.ts";
export type { AllowedBucket, AllowedFolder, PipelineLocations } from "./allowed-locations.ts";
export { pipelineLimits } from "./limits.ts";
