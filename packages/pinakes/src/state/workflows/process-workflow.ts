/** Processes due workflows: timeout, expiry, and leftovers of crashes. */
import type { RegisteredWork } from "../../containers/index.ts";
import { hasCode } from "../../domain/errors.ts";
import type { StateDependencies } from "../dependencies.ts";
import { failed } from "./actions.ts";
import type { Changes } from "./change-workflow.ts";
import { clean } from "./clean.ts";
import { containerName } from "./definition.ts";
import { DueWork, nextDue } from "./due-work.ts";
import { leaseId } from "./lease.ts";
import type { Partitions } from "./partitions.ts";
import { deadlineOf, type WorkflowDocument } from "./transitions.ts";

type Entry = RegisteredWork<"workflow">;

export async function processWorkflow(
  deps: StateDependencies,
  partitions: Partitions,
  changes: Changes,
  entry: Entry,
): Promise<void> {
  const { tenant, key: workflowId } = entry;
  const scope = deps.system.forTenant(tenant);
  const now = deps.clock.now();
  const { workflow, lease } = await partitions.all(scope, workflowId);
  if (workflow === undefined) {
    // Recreating the workflow changes the lease, so this removes only unowned items.
    if (lease !== undefined)
      await deps.items.write(scope, containerName, [workflowId], { op: "delete", id: leaseId, ifMatch: lease.etag });
    await clean(deps, scope, workflowId);
    return deps.work.remove(entry);
  }
  const deadline = deadlineOf(workflow.document as unknown as WorkflowDocument, workflow.modifiedAt);
  if (deadline !== null && deadline <= now) {
    await changes
      .run(scope, workflowId, { ifMatch: workflow.etag, anyToken: true }, (current) => ({
        document: timedOut(current.document, now),
      }))
      .catch((error: unknown) => {
        // It made progress concurrently: the next check computes what is due then.
        if (!hasCode(error, "PRECONDITION_FAILED")) throw error;
      });
  }
  await clean(deps, scope, workflowId);
  await renew(deps, partitions, entry);
}

const timedOut = (document: WorkflowDocument, now: number): WorkflowDocument =>
  failed({
    error_type: "timeout",
    error_message: `The workflow was in progress for more than ${document.metadata.timeout_seconds} seconds.`,
  })(document, now);

/** Schedules the next check from the stored state; verified afterwards, because a start may have crossed it. */
async function renew(deps: StateDependencies, partitions: Partitions, entry: Entry): Promise<void> {
  const { tenant, key: workflowId } = entry;
  const scope = deps.system.forTenant(tenant);
  const due = new DueWork(deps);
  const next = async (): Promise<number | null> => {
    const now = deps.clock.now();
    const item = await partitions.workflow(scope, workflowId);
    if (item === undefined) return now;
    const ttl = deps.items.defaultTtl(scope, containerName);
    return nextDue(item.document as unknown as WorkflowDocument, { modifiedAt: item.modifiedAt, now, ttl });
  };
  const first = await next();
  if (first === null) return deps.work.remove(entry);
  await due.put(tenant, workflowId, first);
  const second = await next();
  if (second !== null && second < first) await due.put(tenant, workflowId, second);
}
