/**
 * The convenient client, built once on any StateApi: iterable lists, updates that retry, recorders that send in the background, errors with
 * classes. Everything else is the contract itself (`api/`).
 */
import type { ContainersApi } from "./api/containers-api.ts";
import type { MemoriesApi, MemoryQuery, ThreadsApi } from "./api/memories-api.ts";
import type { MetricQuery, MetricsApi, TimeRange, ToolQuery, ToolsApi } from "./api/series-api.ts";
import type { StateApi } from "./api/state-api.ts";
import type { WorkflowQuery, WorkflowWrite, WorkflowsApi } from "./api/workflows-api.ts";
import type { Paging } from "./contract/common.ts";
import type { Metric, NewMetric, NewToolInvocation, Rollup, ToolInvocation } from "./contract/series.ts";
import type {
  Agent,
  Checkpoint,
  Memory,
  Session,
  Stored,
  ThreadMessage,
  Workflow,
  WorkflowChange,
} from "./contract/state.ts";
import { httpApi } from "./http/http-api.ts";
import type { HttpOptions } from "./http/request.ts";
import { containerClient, type ContainerClient } from "./sugar/container-client.ts";
import { extend } from "./sugar/extend.ts";
import { listing, type Listing } from "./sugar/listing.ts";
import { mapErrors } from "./sugar/map-errors.ts";
import { createRecorder, type Recorder, type RecorderOptions } from "./sugar/recorder.ts";
import { Updates, type UpdateOptions } from "./sugar/update.ts";
import { workflowChange } from "./sugar/workflow-change.ts";

type Ordered = Paging & { readonly order?: "asc" | "desc" | undefined };

export interface WorkflowsClient extends Omit<WorkflowsApi, "list" | "checkpoints"> {
  list(query?: WorkflowQuery): Listing<Stored<Workflow>>;
  checkpoints(workflowId: string, query?: Ordered): Listing<Checkpoint>;
  /**
   * Read-modify-write: writes only the properties that the function changed, conditional on the etag that was read. After a lost race the
   * function is called again, so it must have no side effects. Checkpoints have a separate call.
   */
  update(
    workflowId: string,
    change: (workflow: Stored<Workflow>) => WorkflowChange | Promise<WorkflowChange>,
    options?: UpdateOptions & Pick<WorkflowWrite, "fencingToken">,
  ): Promise<Stored<Workflow>>;
}
export interface MemoriesClient extends Omit<MemoriesApi, "list" | "agents" | "sessions"> {
  list(query: MemoryQuery & { readonly agent_id: string }): Listing<Stored<Memory>>;
  agents(query?: Paging): Listing<Agent>;
  sessions(agentId: string, query?: Paging): Listing<Session>;
}
export interface ThreadsClient extends Omit<ThreadsApi, "list"> {
  list(threadId: string, query?: Ordered): Listing<Stored<ThreadMessage>>;
}
export interface MetricsClient extends Omit<MetricsApi, "list" | "rollups"> {
  list(query?: MetricQuery): Listing<Stored<Metric>>;
  rollups(query?: TimeRange & Paging): Listing<Rollup>;
  recorder(options?: RecorderOptions<NewMetric>): Recorder<NewMetric>;
}
export interface ToolsClient extends Omit<ToolsApi, "list"> {
  list(query?: ToolQuery): Listing<Stored<ToolInvocation>>;
  recorder(options?: RecorderOptions<NewToolInvocation>): Recorder<NewToolInvocation>;
}

export interface StateClient extends Pick<StateApi, "entities"> {
  readonly workflows: WorkflowsClient;
  readonly memories: MemoriesClient;
  readonly threads: ThreadsClient;
  readonly systemThreads: ThreadsClient;
  readonly metrics: MetricsClient;
  readonly tools: ToolsClient;
  /** All containers; `container` is one of them. */
  readonly containers: ContainersApi;
  container<Item extends object = { readonly id?: string }>(name: string): ContainerClient<Item>;
  /** The plain calls, with the same errors. */
  readonly api: StateApi;
}

/**
 * @example
 * const client = createStateClient({ url: "http://127.0.0.1:7430", apiKey });
 * const { workflow_id } = await client.workflows.create({ type: "sequential", name: "Report", total_steps: 4 });
 * await client.workflows.update(workflow_id, (workflow) => ({ current_step: workflow.current_step + 1 }));
 */
export function createStateClient(options: HttpOptions): StateClient {
  return createClient(httpApi(options));
}

export function createClient(implementation: StateApi): StateClient {
  const api = mapErrors(implementation);
  const updates = new Updates();
  return {
    api,
    entities: api.entities,
    containers: api.containers,
    container: (name) => containerClient(api.containers, name, updates),
    workflows: workflowsClient(api.workflows, updates),
    memories: extend(api.memories, {
      list: ({ agent_id, ...query }: MemoryQuery & { readonly agent_id: string }) =>
        listing((paging) => api.memories.list(agent_id, { ...query, ...paging }), query),
      agents: (query?: Paging) => listing((paging) => api.memories.agents({ ...query, ...paging }), query),
      sessions: (agentId: string, query?: Paging) =>
        listing((paging) => api.memories.sessions(agentId, { ...query, ...paging }), query),
    }),
    threads: threadsClient(api.threads),
    systemThreads: threadsClient(api.systemThreads),
    metrics: extend(api.metrics, {
      list: (query?: MetricQuery) => listing((paging) => api.metrics.list({ ...query, ...paging }), query),
      rollups: (query?: TimeRange & Paging) => listing((paging) => api.metrics.rollups({ ...query, ...paging }), query),
      recorder: (options?: RecorderOptions<NewMetric>) =>
        createRecorder<NewMetric>((lines) => api.metrics.ingest(lines), options),
    }),
    tools: extend(api.tools, {
      list: (query?: ToolQuery) => listing((paging) => api.tools.list({ ...query, ...paging }), query),
      recorder: (options?: RecorderOptions<NewToolInvocation>) =>
        createRecorder<NewToolInvocation>((lines) => api.tools.ingest(lines), options),
    }),
  };
}

function workflowsClient(api: WorkflowsApi, updates: Updates): WorkflowsClient {
  return extend(api, {
    list: (query?: WorkflowQuery) => listing((paging) => api.list({ ...query, ...paging }), query),
    checkpoints: (workflowId: string, query?: Ordered) =>
      listing((paging) => api.checkpoints(workflowId, { ...query, ...paging }), query),
    update: (
      workflowId: string,
      change: Parameters<WorkflowsClient["update"]>[1],
      options: UpdateOptions & Pick<WorkflowWrite, "fencingToken"> = {},
    ) => {
      const read = (): Promise<Stored<Workflow>> => api.get(workflowId, { checkpoints: "none" });
      const write = async (before: Stored<Workflow>): Promise<Stored<Workflow>> => {
        const changed = workflowChange(before, await change(before));
        if (changed === undefined) return before;
        return api.patch(workflowId, changed, { ifMatch: before._etag, fencingToken: options.fencingToken });
      };
      return updates.run(`workflow ${workflowId}`, { read, write }, options);
    },
  });
}

function threadsClient(api: ThreadsApi): ThreadsClient {
  return extend(api, {
    list: (threadId: string, query?: Ordered) =>
      listing((paging) => api.list(threadId, { ...query, ...paging }), query),
  });
}
