/**
 * The events of one workflow, read from the change feed of its workspace, so that nothing is missed, whichever process wrote it. An event
 * id is a signed feed position: a client resumes after it, and only in this workflow.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowEvent } from "@pinakes/client";
import { invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { macOf, sameBytes } from "../../runtime/tokens.ts";
import type { Change } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { checkpointPrefix, type CheckpointItem } from "./checkpoint-item.ts";
import { containerName } from "./definition.ts";
import { leaseId, viewOf, type LeaseRecord } from "./lease.ts";
import { noWorkflow, type Partitions } from "./partitions.ts";
import { reservedIdPrefix } from "../system-container.ts";
import type { WorkflowDocument } from "./transitions.ts";

export interface FollowWorkflow {
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  /** Polling interval at the end of the feed. */
  readonly pollMs?: number;
}

const pollMsDefault = 500;
const changesPerPage = 100;

/** `after` is validated immediately; the workflow with the first event. */
export function followWorkflow(
  deps: StateDependencies,
  partitions: Partitions,
  scope: Scope,
  workflowId: string,
  options: FollowWorkflow,
): AsyncIterable<WorkflowEvent> {
  const cursor = options.after === undefined ? undefined : readId(deps, scope, workflowId, options.after);
  return events(deps, partitions, scope, workflowId, { ...options, cursor });
}

async function* events(
  deps: StateDependencies,
  partitions: Partitions,
  scope: Scope,
  workflowId: string,
  options: FollowWorkflow & { readonly cursor: string | undefined },
): AsyncGenerator<WorkflowEvent, void> {
  const { signal, pollMs = pollMsDefault } = options;
  let { cursor } = options;
  if (cursor === undefined) {
    // The position first: changes after the read are reported.
    ({ cursor } = await deps.items.changes(scope, containerName, { from: "now", limit: 1 }));
    if ((await partitions.workflow(scope, workflowId)) === undefined) throw noWorkflow(workflowId);
  }
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    const page = await deps.items.changes(scope, containerName, { cursor, limit: changesPerPage });
    const told = page.changes
      .filter(({ partition }) => partition[0] === workflowId)
      .flatMap((change) => eventOf(workflowId, change));
    for (const [i, event] of told.entries()) {
      if (isStopped()) return;
      // The last event of a page gets the position of the page's end, the others that of its start: after a reconnect some
      // may be repeated, none is missed.
      yield { ...event, id: writeId(deps, scope, workflowId, i === told.length - 1 ? page.cursor : cursor) };
    }
    ({ cursor } = page);
    if (!page.more) await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
}

type Unplaced = Omit<WorkflowEvent, "id">;

/** A change whose document was replaced concurrently is followed by the replacement. */
function eventOf(workflow_id: string, { kind, id, document, at, etag, expired }: Change): Unplaced[] {
  const event = (type: WorkflowEvent["type"], data: JsonObject): Unplaced[] => [
    { type, workflow_id, data: data, at: new Date(at).toISOString() },
  ];
  if (!id.startsWith(reservedIdPrefix)) {
    if (kind === "delete") return event("workflow.deleted", expired === true ? { expired } : {});
    if (document === undefined) return [];
    const { status, current_step, total_steps, updated_at } = document as unknown as WorkflowDocument;
    return event("workflow.changed", { status, current_step, total_steps, updated_at, etag });
  }
  if (kind === "delete" || document === undefined) return [];
  if (id.startsWith(checkpointPrefix)) {
    const { step, timestamp, bytes } = document as CheckpointItem;
    return event("checkpoint.added", { step, timestamp, bytes });
  }
  const lease = document as LeaseRecord;
  // A lease that was never held was created with its workflow.
  if (id !== leaseId || lease.fencing_token === 0) return [];
  const { owner, fencing_token, expires_at } = viewOf(lease);
  return event("lease.changed", { owner: owner || null, fencing_token, expires_at: expires_at || null });
}

function sign({ signingKey }: StateDependencies, { tenant }: Scope, workflowId: string, cursor: string): Buffer {
  return macOf(signingKey, JSON.stringify(["workflow event", tenant, workflowId, cursor])).subarray(0, 16);
}

function writeId(deps: StateDependencies, scope: Scope, workflowId: string, cursor: string): string {
  return `${Buffer.from(cursor, "utf8").toString("base64url")}.${sign(deps, scope, workflowId, cursor).toString("base64url")}`;
}

function readId(deps: StateDependencies, scope: Scope, workflowId: string, id: string): string {
  const [place = "", signature = ""] = typeof id === "string" ? id.split(".") : [];
  const cursor = Buffer.from(place, "base64url").toString("utf8");
  const given = Buffer.from(signature, "base64url");
  if (sameBytes(given, sign(deps, scope, workflowId, cursor))) return cursor;
  throw invalid("after: is not an event id of this workflow. Omit it to start now.");
}
