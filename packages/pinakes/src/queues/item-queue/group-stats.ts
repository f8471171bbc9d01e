/** Statistics of a queue, summed over the groups that have messages. They are as current as the engine's indexes. */
import type { Scope } from "../../domain/scope.ts";
import type { QueueStats } from "../../ports/queue.ts";
import { queueLimits } from "../queue-limits.ts";
import type { Groups } from "./groups.ts";
import { groupOf, queueContainer, type Group } from "./records.ts";

const pageGroups = 500;

export async function groupStats({ items, clock }: Groups, scope: Scope, queue: string): Promise<QueueStats> {
  const now = clock.now();
  const sum = { ready: 0, inFlight: 0, delayed: 0 };
  let oldest = Infinity;
  let cursor: string | undefined;
  for (let seen = 0; seen < queueLimits.statsGroupsMax; seen += pageGroups) {
    const query = {
      index: "ready",
      equals: { work: queue },
      limit: pageGroups,
      cursor,
    };
    const page = await items.query(scope, queueContainer.name, query);
    for (const { document } of page.items) {
      const group = groupOf(document);
      count(group, now, sum);
      oldest = Math.min(oldest, group.head?.sentAt ?? Infinity);
    }
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  const dead = await items.count(scope, queueContainer.name, { index: "dead", equals: { deadIn: queue } });
  return {
    ...sum,
    dead,
    ...(oldest === Infinity ? {} : { oldestAgeMs: Math.max(0, now - oldest) }),
    ...(cursor === undefined ? {} : { truncated: true as const }),
  };
}

function count(
  { count: messages, head, lease }: Group,
  now: number,
  sum: { ready: number; inFlight: number; delayed: number },
): void {
  if (lease !== undefined && lease.until > now) {
    sum.inFlight += 1;
    sum.ready += messages - 1;
  } else if (lease === undefined && head !== undefined && head.readyAt > now) sum.delayed += messages;
  else sum.ready += messages;
}
