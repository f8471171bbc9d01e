/** Workflows over HTTP. */
import type { WorkflowWrite, WorkflowsApi } from "../api/workflows-api.ts";
import type { WorkflowEvent } from "../contract/state.ts";
import { path, type Requester, type RequestOptions } from "./request.ts";
import { follow } from "./sse.ts";

export function httpWorkflows(http: Requester): WorkflowsApi {
  const change = (workflowId: string, verb: string, options: WorkflowWrite = {}, body: object = {}): Promise<never> =>
    http.json("POST", `${path`/v1/workflows/${workflowId}`}:${verb}`, { body, ...conditions(options) });
  return {
    create: (input, options = {}) =>
      http.json("POST", "/v1/workflows", {
        body: input,
        idempotencyKey: options.idempotencyKey ?? crypto.randomUUID(),
      }),
    get: (workflowId, options = {}) =>
      http.json("GET", path`/v1/workflows/${workflowId}`, { query: { checkpoints: options.checkpoints } }),
    list: (query = {}) => http.json("GET", "/v1/workflows", { query: { ...query } }),
    patch: (workflowId, body, options = {}) =>
      http.json("PATCH", path`/v1/workflows/${workflowId}`, { body, ...conditions(options) }),
    delete: (workflowId, options = {}) => http.json("DELETE", path`/v1/workflows/${workflowId}`, conditions(options)),
    start: (workflowId, options) => change(workflowId, "start", options),
    pause: (workflowId, options) => change(workflowId, "pause", options),
    cancel: (workflowId, options) => change(workflowId, "cancel", options),
    complete: (workflowId, options) => change(workflowId, "complete", options),
    fail: (workflowId, error, options) => change(workflowId, "fail", options, error),
    retry: (workflowId, options) => change(workflowId, "retry", options),
    skip: (workflowId, options) => change(workflowId, "skip", options),
    resume: (workflowId, options = {}) => {
      const { owner, leaseSeconds, ...write } = options;
      return change(workflowId, "resume", write, { owner, lease_seconds: leaseSeconds });
    },
    setAgent: (workflowId, agentId, agent, options = {}) =>
      http.json("PUT", path`/v1/workflows/${workflowId}/agents/${agentId}`, { body: agent, ...conditions(options) }),
    checkpoint: (workflowId, checkpoint, options = {}) =>
      http.json("POST", path`/v1/workflows/${workflowId}/checkpoints`, {
        body: checkpoint,
        idempotencyKey: crypto.randomUUID(),
        ...conditions(options),
      }),
    checkpoints: (workflowId, query = {}) =>
      http.json("GET", path`/v1/workflows/${workflowId}/checkpoints`, { query: { ...query } }),
    checkpointAt: (workflowId, step) => http.json("GET", path`/v1/workflows/${workflowId}/checkpoints/${step}`),
    lease: (workflowId) => http.json("GET", path`/v1/workflows/${workflowId}/lease`),
    acquireLease: (workflowId, { owner, leaseSeconds }) =>
      http.json("POST", path`/v1/workflows/${workflowId}/lease`, { body: { owner, lease_seconds: leaseSeconds } }),
    renewLease: (workflowId, { fencingToken, leaseSeconds }) =>
      http.json("PUT", path`/v1/workflows/${workflowId}/lease`, {
        body: { fencing_token: fencingToken, lease_seconds: leaseSeconds },
        repeatable: true,
      }),
    releaseLease: (workflowId, { fencingToken }) =>
      http.json("DELETE", path`/v1/workflows/${workflowId}/lease`, {
        query: { fencing_token: fencingToken },
        repeatable: true,
      }),
    events: async function* (workflowId, { after, signal }) {
      for await (const { data } of follow(http, path`/v1/workflows/${workflowId}/events`, { after, signal }))
        yield JSON.parse(data) as WorkflowEvent;
    },
    stats: () => http.json("GET", "/v1/workflows:stats"),
  };
}

function conditions({ ifMatch, fencingToken }: WorkflowWrite): RequestOptions {
  return { ifMatch, query: { fencing_token: fencingToken } };
}
