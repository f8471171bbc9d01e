/**
 * Removes what no workflow needs: checkpoints and objects of earlier lives, and of creates that died. A life that is still
 * being created has a marker (`~create-<life>`), without which it can never become the workflow's: so the marker is removed first, then the
 * lease is read, and only then, if this life is not the current one, its items.
 */
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import type { StateDependencies } from "../dependencies.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { checkpointPrefix, lifeIn, lifePrefix, objectPrefix } from "./checkpoint-item.ts";
import { containerName } from "./definition.ts";
import { latestId, type LatestRecord } from "./latest.ts";
import { leaseId, type LeaseRecord } from "./lease.ts";
import { workflowLimits } from "./limits.ts";

const markerPrefix = `${reservedIdPrefix}create-`;
const markersPerPage = 25;

export function markerId(life: string): string {
  return `${markerPrefix}${life}`;
}

export function marker(workflowId: string, life: string): Operation {
  return {
    op: "create",
    document: { id: markerId(life), workflow_id: workflowId, [companionField]: "create", ttl: -1 },
  };
}

export async function clean(deps: StateDependencies, scope: Scope, workflowId: string): Promise<void> {
  const markers = await markedLives(deps, scope, workflowId);
  const latest = await deps.items.read(scope, containerName, { partition: [workflowId], id: latestId });
  const lives = new Set([
    ...markers,
    ...(await livesOfCheckpoints(deps, scope, workflowId)),
    ...(await livesOfObjects(deps, scope, workflowId)),
  ]);
  if (lives.size === 0 && latest === undefined) return;
  for (const life of markers) await remove(deps, scope, workflowId, [markerId(life)]);
  const lease = await deps.items.read(scope, containerName, { partition: [workflowId], id: leaseId });
  const { life: current = "" } = (lease?.document as LeaseRecord | undefined) ?? {};
  lives.delete(current);
  if (latest !== undefined && (latest.document as LatestRecord).life !== current)
    await remove(deps, scope, workflowId, [latestId], latest.etag);
  for (const life of lives) {
    await removeObjects(deps, scope, objectPrefix(workflowId, life));
    await removeCheckpoints(deps, scope, workflowId, life);
  }
}

async function markedLives(deps: StateDependencies, scope: Scope, workflowId: string): Promise<string[]> {
  const { items } = await query(deps, scope, workflowId, { prefix: markerPrefix }, markersPerPage);
  return items.map(({ id }) => id.slice(markerPrefix.length));
}

/** A skip scan from life to life. */
async function livesOfCheckpoints(deps: StateDependencies, scope: Scope, workflowId: string): Promise<string[]> {
  const lives: string[] = [];
  for (let from = checkpointPrefix; ;) {
    // "." is the successor of "-", which ends the prefix of a life.
    const { items } = await query(deps, scope, workflowId, { gte: from, lt: `${checkpointPrefix.slice(0, -1)}.` }, 1);
    const [first] = items;
    if (first === undefined) return lives;
    const life = lifeIn(first.id);
    lives.push(life);
    from = `${lifePrefix(life).slice(0, -1)}.`;
  }
}

async function livesOfObjects(deps: StateDependencies, scope: Scope, workflowId: string): Promise<string[]> {
  const root = objectPrefix(workflowId);
  const { keys } = await deps.objects.list(scope, root);
  return [...new Set(keys.map(({ key }) => key.slice(root.length).split("/")[0] as string))];
}

async function removeObjects(deps: StateDependencies, scope: Scope, prefix: string): Promise<void> {
  for (;;) {
    const { keys } = await deps.objects.list(scope, prefix);
    if (keys.length === 0) return;
    await deps.objects.delete(
      scope,
      keys.map(({ key }) => key),
    );
  }
}

async function removeCheckpoints(
  deps: StateDependencies,
  scope: Scope,
  workflowId: string,
  life: string,
): Promise<void> {
  for (;;) {
    const { items } = await query(
      deps,
      scope,
      workflowId,
      { prefix: lifePrefix(life) },
      workflowLimits.batchOperationsMax,
    );
    if (items.length === 0) return;
    await remove(
      deps,
      scope,
      workflowId,
      items.map(({ id }) => id),
    );
  }
}

async function remove(
  deps: StateDependencies,
  scope: Scope,
  workflowId: string,
  ids: readonly string[],
  ifMatch?: string,
): Promise<void> {
  // Another process cleans up too: the next read finds its remainder.
  await tolerate(
    deps.items.batch(
      scope,
      containerName,
      [workflowId],
      ids.map((id) => ({ op: "delete", id, ifMatch })),
    ),
    "NOT_FOUND",
    "PRECONDITION_FAILED",
  );
}

async function query(
  deps: StateDependencies,
  scope: Scope,
  workflowId: string,
  range: object,
  limit: number,
): Promise<{ items: readonly Item[] }> {
  return deps.items.query(scope, containerName, { equals: { workflow_id: workflowId }, range, limit });
}
