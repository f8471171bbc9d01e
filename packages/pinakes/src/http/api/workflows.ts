/** Workflows over HTTP. */
import { agentStatuses, recoveryActions, sortOrders, workflowStatuses, workflowTypes } from "@pinakes/client";
import { z } from "zod";
import { pageOf } from "../../contract/index.ts";
import { invalid } from "../../domain/errors.ts";
import type { Identity } from "../../identity/index.ts";
import type { State } from "../../state/index.ts";
import { created, defineRoute, noContent, ok, sse, type Answer, type Route } from "../framework/index.ts";
import { sessionsOf, sessionTokenHeader } from "../session-token.ts";
import { credentialsOf } from "./jobs.ts";
import { id, paging } from "./schemas.ts";
import {
  asSent,
  Checkpoint,
  documentFields,
  fencing,
  leaseSeconds,
  NewCheckpoint,
  NewWorkflow,
  Resumed,
  Stats,
  Workflow,
} from "./workflow-schemas.ts";
import { type Workflows, type StoredWorkflow, all, one, wid, params, conditionsOf } from "./workflow-conditions.ts";
import { leaseRoutes } from "./workflow-leases.ts";

const checkpointBodyBytesMax = 32 * 1_048_576;
const workflowBodyBytesMax = 4 * 1_048_576;

const answer = { 200: { description: "The workflow after the change.", schema: Workflow } };

export function workflowRoutes({ workflows }: State, identity: Identity): readonly Route[] {
  return [
    ...documentRoutes(workflows),
    ...changeRoutes(workflows),
    ...verbRoutes(workflows),
    ...checkpointRoutes(workflows),
    ...leaseRoutes(workflows),
    eventRoute(workflows, identity),
  ];
}

function documentRoutes(workflows: Workflows): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: all,
      operationId: "createWorkflow",
      summary: "Create a workflow; type, name and total_steps are required",
      tag: "workflows",
      auth: "caller",
      idempotent: true,
      limits: { bodyBytesMax: checkpointBodyBytesMax },
      body: NewWorkflow,
      answers: { 201: { description: "The workflow.", schema: Workflow } },
      handler: async ({ caller, body }) => {
        const workflow = await workflows.create(caller, body as never);
        return created(workflow, {
          etag: workflow._etag,
          location: `${all}/${encodeURIComponent(workflow.workflow_id)}`,
        });
      },
    }),
    defineRoute({
      method: "GET",
      path: all,
      operationId: "listWorkflows",
      summary: "List workflows without their checkpoints, newest first; of one type, last changed first",
      tag: "workflows",
      auth: "caller",
      query: z.object({
        status: z.enum(workflowStatuses).optional(),
        type: z.enum(workflowTypes).optional(),
        order: z.enum(sortOrders).optional(),
        ...paging,
      }),
      answers: { 200: { description: "A page.", schema: pageOf(Workflow) } },
      handler: async ({ caller, query, header }) =>
        ok(
          await workflows.list(caller, {
            ...query,
            session: sessionsOf(header(sessionTokenHeader), "workflow-states"),
          }),
        ),
    }),
    defineRoute({
      method: "GET",
      path: `${all}:stats`,
      operationId: "countWorkflows",
      summary: "Count workflows by status and type",
      tag: "workflows",
      auth: "caller",
      answers: { 200: { description: "The counts.", schema: Stats } },
      handler: async ({ caller }) => ok(await workflows.stats(caller)),
    }),
    defineRoute({
      method: "GET",
      path: one,
      operationId: "getWorkflow",
      summary: "Get a workflow with its latest checkpoints",
      tag: "workflows",
      auth: "caller",
      params,
      query: z.object({ checkpoints: z.enum(["recent", "none"]).optional().describe("none: without them.") }),
      answers: { 200: { description: "The workflow.", schema: Workflow } },
      handler: async ({ caller, params: p, query }) => {
        const { checkpoints } = query;
        const text = checkpoints === undefined ? await workflows.getText(caller, p.wid) : undefined;
        if (text !== undefined) return { status: 200, ...text };
        const workflow = await workflows.get(caller, p.wid, checkpoints === undefined ? {} : { checkpoints });
        return ok(workflow, { etag: workflows.versionOf(workflow) });
      },
    }),
  ];
}

function changeRoutes(workflows: Workflows): readonly Route[] {
  return [
    defineRoute({
      method: "PATCH",
      path: one,
      operationId: "updateWorkflow",
      summary: "Replace properties of a workflow; a change of status must be a legal transition",
      tag: "workflows",
      auth: "caller",
      conditional: true,
      params,
      query: z.object(fencing),
      limits: { bodyBytesMax: workflowBodyBytesMax },
      body: asSent(documentFields),
      answers: answer,
      handler: async (request) =>
        changed(
          await workflows.patch(request.caller, request.params.wid, request.body as never, conditionsOf(request)),
        ),
    }),
    defineRoute({
      method: "DELETE",
      path: one,
      operationId: "deleteWorkflow",
      summary: "Delete a workflow with all its checkpoints",
      tag: "workflows",
      auth: "caller",
      conditional: true,
      params,
      query: z.object(fencing),
      answers: { 204: { description: "The workflow was deleted." } },
      handler: async (request) => {
        await workflows.delete(request.caller, request.params.wid, conditionsOf(request));
        return noContent();
      },
    }),
    defineRoute({
      method: "PUT",
      path: `${one}/agents/{aid}`,
      operationId: "setWorkflowAgent",
      summary: "Add an agent, or update its progress; times follow from the status",
      tag: "workflows",
      auth: "caller",
      conditional: true,
      params: z.object({ wid, aid: id.describe("The agent_id.") }),
      query: z.object(fencing),
      limits: { bodyBytesMax: workflowBodyBytesMax },
      body: asSent({
        agent_name: z.string(),
        status: z.enum(agentStatuses),
        started_at: z.string().nullable(),
        completed_at: z.string().nullable(),
        duration_ms: z.number().nullable(),
        result: z.looseObject({}).nullable(),
      }),
      answers: answer,
      handler: async (request) => {
        const { wid: workflowId, aid } = request.params;
        return changed(await workflows.setAgent(request.caller, workflowId, aid, request.body, conditionsOf(request)));
      },
    }),
  ];
}

function verbRoutes(workflows: Workflows): readonly Route[] {
  type Verb = "start" | "pause" | "cancel" | "complete" | "retry" | "skip";
  const shared = {
    method: "POST",
    tag: "workflows",
    auth: "caller",
    conditional: true,
    params,
    query: z.object(fencing),
  } as const;
  const verb = (name: Verb, summary: string): Route =>
    defineRoute({
      ...shared,
      path: `${one}:${name}`,
      operationId: `${name}Workflow`,
      summary,
      answers: answer,
      handler: async (request) =>
        changed(await workflows[name](request.caller, request.params.wid, conditionsOf(request))),
    });
  return [
    verb("start", "Start a pending workflow"),
    verb("pause", "Pause a workflow in progress"),
    verb("cancel", "Cancel a workflow that has not ended"),
    verb("complete", "Complete a workflow in progress"),
    verb("retry", "Retry a failed workflow from its failed step, at most max_retries times"),
    verb("skip", "Continue a failed workflow after its failed step"),
    defineRoute({
      ...shared,
      path: `${one}:fail`,
      operationId: "failWorkflow",
      summary: "Report that a workflow failed, with possible recovery actions",
      body: asSent({
        error_type: z.string(),
        error_message: z.string(),
        stack_trace: z.string(),
        failed_step: z.number().int(),
        recovery_action: z.enum(recoveryActions),
      }).optional(),
      answers: answer,
      handler: async (request) =>
        changed(
          await workflows.fail(
            request.caller,
            request.params.wid,
            (request.body ?? {}) as never,
            conditionsOf(request),
          ),
        ),
    }),
    defineRoute({
      ...shared,
      path: `${one}:resume`,
      operationId: "resumeWorkflow",
      summary: "Resume: in progress, from the latest checkpoint, acquiring the lease if an owner is given",
      body: z
        .strictObject({
          owner: z.string().optional().describe("The worker that acquires the lease."),
          lease_seconds: leaseSeconds,
        })
        .optional(),
      answers: { 200: { description: "The workflow, its latest checkpoint and the lease.", schema: Resumed } },
      handler: async (request) => {
        const { owner, lease_seconds } = request.body ?? {};
        const resumed = await workflows.resume(request.caller, request.params.wid, {
          ...conditionsOf(request),
          owner,
          leaseSeconds: lease_seconds,
        });
        return ok(resumed, { etag: resumed.workflow._etag });
      },
    }),
  ];
}

function checkpointRoutes(workflows: Workflows): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path: `${one}/checkpoints`,
      operationId: "addCheckpoint",
      summary: "Add a checkpoint; earlier ones are immutable",
      tag: "workflows",
      auth: "caller",
      idempotent: true,
      conditional: true,
      params,
      query: z.object(fencing),
      limits: { bodyBytesMax: checkpointBodyBytesMax },
      body: NewCheckpoint,
      answers: { 201: { description: "The checkpoint.", schema: Checkpoint } },
      handler: async (request) =>
        created(
          await workflows.checkpoint(request.caller, request.params.wid, request.body as never, conditionsOf(request)),
        ),
    }),
    defineRoute({
      method: "GET",
      path: `${one}/checkpoints`,
      operationId: "listCheckpoints",
      summary: "List all checkpoints by step, then by time",
      tag: "workflows",
      auth: "caller",
      params,
      query: z.object({ order: z.enum(sortOrders).optional(), ...paging }),
      answers: {
        200: {
          description: "A page; it may be shorter than requested if checkpoints are large.",
          schema: pageOf(Checkpoint),
        },
      },
      handler: async ({ caller, params: p, query }) => ok(await workflows.checkpoints(caller, p.wid, query)),
    }),
    defineRoute({
      method: "GET",
      path: `${one}/checkpoints/{step}`,
      operationId: "getCheckpoint",
      summary: "Get the last checkpoint of a step, or of all steps",
      tag: "workflows",
      auth: "caller",
      params: z.object({ wid, step: z.string().describe("A number, or `latest`.") }),
      answers: { 200: { description: "The checkpoint.", schema: Checkpoint } },
      handler: async ({ caller, params: p }) => ok(await workflows.checkpointAt(caller, p.wid, stepOf(p.step))),
    }),
  ];
}

function eventRoute(workflows: Workflows, identity: Identity): Route {
  return defineRoute({
    method: "GET",
    path: `${one}/events`,
    operationId: "followWorkflow",
    summary: "Stream the events of a workflow, as server-sent events",
    description:
      "`workflow.changed`, `workflow.deleted`, `checkpoint.added`, `lease.changed`. Last-Event-ID resumes after that event; without it the stream starts now.",
    tag: "workflows",
    auth: "caller",
    params,
    answers: { 200: { description: "An endless stream of events.", contentType: "text/event-stream" } },
    handler: async (request) => {
      const { caller, params: p, header, signal } = request;
      // Both are checked before the stream begins: an unknown event id, and a missing workflow.
      workflows.events(caller, p.wid, { after: header("last-event-id") || undefined, signal });
      if (!header("last-event-id")) await workflows.get(caller, p.wid, { checkpoints: "none" });
      return sse(request, async function* (after, until) {
        for await (const event of workflows.events(caller, p.wid, { after, signal: until })) {
          // A stream may outlive the key or session that opened it: nothing is sent after the credential ends.
          await identity.authenticate(credentialsOf(request));
          yield { id: event.id, event: event.type, data: event };
        }
      });
    },
  });
}

function changed(workflow: StoredWorkflow): Answer<StoredWorkflow> {
  return ok(workflow, { etag: workflow._etag });
}

function stepOf(text: string): number | "latest" {
  if (text === "latest") return text;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalid(`step: must be a whole number or "latest", got ${JSON.stringify(text)}.`);
}
