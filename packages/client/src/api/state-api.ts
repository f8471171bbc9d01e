/**
 * All operations on agents' state, as plain calls and pages. Two implementations exist: the features of an embedded Pinakes, bound to a
 * caller, and `httpApi`, which calls a server. Convenience functions are built on it once (state-client.ts).
 */
import type { ContainersApi } from "./containers-api.ts";
import type { EntitiesApi, MemoriesApi, ThreadsApi } from "./memories-api.ts";
import type { MetricsApi, ToolsApi } from "./series-api.ts";
import type { WorkflowsApi } from "./workflows-api.ts";

export interface StateApi {
  readonly workflows: WorkflowsApi;
  readonly memories: MemoriesApi;
  readonly threads: ThreadsApi;
  readonly systemThreads: ThreadsApi;
  readonly entities: EntitiesApi;
  readonly metrics: MetricsApi;
  readonly tools: ToolsApi;
  readonly containers: ContainersApi;
}
