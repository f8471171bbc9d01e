/** Agents' state on a server. */
import type { StateApi } from "../api/state-api.ts";
import { httpContainers } from "./containers.ts";
import { httpEntities, httpMemories, httpThreads } from "./memories.ts";
import { Requester, type HttpOptions } from "./request.ts";
import { httpMetrics, httpTools } from "./series.ts";
import { httpWorkflows } from "./workflows.ts";

/** Implements every call of the contract as one request. `createClient` adds convenience. */
export function httpApi(options: HttpOptions): StateApi {
  const http = new Requester(options);
  return {
    workflows: httpWorkflows(http),
    memories: httpMemories(http),
    threads: httpThreads(http, "threads"),
    systemThreads: httpThreads(http, "system-threads"),
    entities: httpEntities(http),
    metrics: httpMetrics(http),
    tools: httpTools(http),
    containers: httpContainers(http),
  };
}
