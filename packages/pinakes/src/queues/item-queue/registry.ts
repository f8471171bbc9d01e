/**
 * Which groups a queue has, independent of any index: one small item per group in a partition of their own, read by the sweep.
 *
 * Invariant: a group with messages is registered. Nothing is atomic across partitions, so it relies on an order of steps:
 * - a sender that finds its group unregistered writes the entry first, then its batch, which requires that the group is unchanged;
 * - a removal reads the entry, then marks the group unregistered on condition that it is empty, then deletes the entry only if that is
 *   unchanged. A sender that came in between has either changed the group (the second step fails) or sees it unregistered and has
 *   written the entry again (the third does nothing).
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
/** The maximum of one readMany. */
const pageGroups = limits.readManyKeysMax;
/** Per sweep; the next one continues where this one ended. */
const sweepGroupsMax = 10_000;
/** An empty group stays registered for a while: most get another message soon. */
const idleMs = 3_600_000;
/** Entries removed in one sweep: there is no hurry, and a receiver waits for it. */
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

  /** The groups whose head is due now, found without any index; and the cursor to continue from, if there are too many. */
  async sweep(
    scope: Scope,
    queue: string,
    from: string | undefined,
  ): Promise<{ due: string[]; cursor: string | undefined }> {
    const due: Due[] = [];
    const idle: Item[] = [];
    let cursor = from;
    for (let seen = 0; seen < sweepGroupsMax; seen += pageGroups) {
      const query = { equals: { queue, part }, limit: pageGroups, cursor };
      const page = await this.#groups.items.query(scope, queueContainer.name, query);
      await this.#look(scope, queue, page.items, due, idle);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    for (const entry of idle.slice(0, retiredMax)) await this.#retire(scope, queue, entry);
    // In order of readiness, as the index would return them: groups take turns.
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
      // Written even if unchanged: the new etag rejects a sender that has registered but not sent yet.
      const unregistered: Group = { ...group, registered: false };
      return { result: true, group: unregistered };
    });
    if (!empty) return;
    // Registered again by a sender, or removed by another sweep.
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

/** Undefined for a group without messages. An unreadable one counts as due: claiming it reports the error, and the sweep continues. */
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
