/**
 * Which groups a queue has, independent of any index: one small item per group in a partition of their own, read by the sweep.
 *
 * Invariant: a group with messages is registered. Nothing is atomic across partitions, so it rests on an order of steps:
 * - a sender that finds its group unregistered writes the entry first, then its batch, which holds only if the group is unchanged;
 * - who takes an entry away reads the entry, then changes the group to unregistered under the condition that it is empty, then
 *   deletes the entry only if that is unchanged. A sender that came in between has either changed the group (the second step
 *   fails) or sees it unregistered and has written the entry anew (the third does nothing).
 */
import { hasCode } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { Item } from "../../ports/item-store.ts";
import type { Groups } from "./groups.ts";
import {
  groupId,
  groupOf,
  idOf,
  partitionOf,
  queueContainer,
  readyAtOf,
  type Group,
  type GroupKey,
} from "./records.ts";

const part = "registry";
/** As many as one read of their records takes. */
const pageGroups = limits.readManyKeysMax;
/** Of one sweep; the next goes on where this one ended. */
const sweepGroupsMax = 10_000;
/** An empty group stays registered for a while: most get another message soon. */
const idleMs = 3_600_000;
/** Entries taken away in one sweep: it is no hurry, and a receiver waits for it. */
const retiredMax = 50;

interface Due {
  readonly group: string;
  readonly readyAt: number;
}

export class Registry {
  readonly #groups: Groups;

  constructor(groups: Groups) {
    this.#groups = groups;
  }

  async register(scope: Scope, { queue, group }: GroupKey): Promise<void> {
    const document = { id: idOf(group), queue, part, kind: "registration", v: 1, group };
    await this.#groups.items.write(scope, queueContainer.name, [queue, part], { op: "upsert", document });
  }

  /** The groups whose head may be taken now, found without any index; and the cursor to go on from, if there are too many. */
  async sweep(
    scope: Scope,
    queue: string,
    from: string | undefined,
  ): Promise<{ due: string[]; cursor: string | undefined }> {
    const due: Due[] = [];
    const idle: Item[] = [];
    let cursor = from;
    for (let seen = 0; seen < sweepGroupsMax; seen += pageGroups) {
      const query = { equals: { queue, part }, limit: pageGroups, ...(cursor === undefined ? {} : { cursor }) };
      const page = await this.#groups.items.query(scope, queueContainer.name, query);
      await this.#look(scope, queue, page.items, due, idle);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    for (const entry of idle.slice(0, retiredMax)) await this.#retire(scope, queue, entry);
    // In the order of readiness, as the index would have given them: groups take turns.
    due.sort((a, b) => a.readyAt - b.readyAt);
    return { due: due.map(({ group }) => group), cursor };
  }

  async #look(scope: Scope, queue: string, entries: readonly Item[], due: Due[], idle: Item[]): Promise<void> {
    const now = this.#groups.clock.now();
    const keys = entries.map((entry) => ({ partition: partitionOf({ queue, group: groupIn(entry) }), id: groupId }));
    const records = keys.length === 0 ? [] : await this.#groups.items.readMany(scope, queueContainer.name, keys);
    for (const [i, entry] of entries.entries()) {
      const record = records[i];
      const readyAt = record === undefined ? undefined : readyAtIn(record);
      if (readyAt === undefined) {
        if (Math.max(entry.modifiedAt, record?.modifiedAt ?? 0) + idleMs <= now) idle.push(entry);
      } else if (readyAt <= now) due.push({ group: groupIn(entry), readyAt });
    }
  }

  async #retire(scope: Scope, queue: string, entry: Item): Promise<void> {
    const empty = await this.#groups.change(scope, { queue, group: groupIn(entry) }, (group) => {
      if (group.count > 0) return { result: false };
      // Written also when it says so already: the new etag turns away a sender who has registered but not sent yet.
      const unregistered: Group = { ...group, registered: false };
      return { result: true, group: unregistered };
    });
    if (!empty) return;
    // Registered anew by a sender, or taken away by another sweep.
    await tolerate(
      this.#groups.items.write(scope, queueContainer.name, [queue, part], {
        op: "delete",
        id: entry.id,
        ifMatch: entry.etag,
      }),
      "PRECONDITION_FAILED",
      "NOT_FOUND",
    );
  }
}

/** Undefined for a group without messages. One that cannot be read is due: taking it says what is wrong, and the sweep goes on. */
function readyAtIn({ document }: Item): number | undefined {
  try {
    return readyAtOf(groupOf(document));
  } catch (error) {
    if (hasCode(error, "CORRUPT")) return 0;
    throw error;
  }
}

function groupIn({ document }: Item): string {
  return document["group"] as string;
}
