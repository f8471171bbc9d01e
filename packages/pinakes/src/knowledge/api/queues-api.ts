/**
 * The queues of documents, of the lifecycle and of the drop box, for admins of a workspace, who see only their own messages. The document
 * queues belong to the system: each workspace has a lane; all lanes appear under one name, together with the queue that all workspaces
 * shared before there were lanes, of which only groups with the workspace's prefix are shown.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { DeadSummary } from "../../ports/queue.ts";
import { waitingSince } from "../records/backlog.ts";
import { ageSeconds, deletionLag, type DeletionLag } from "../deletion/deletion-lag.ts";
import { itemsOf } from "../../runtime/pages.ts";
import type { DeadMessage } from "./dead-messages.ts";
import type { DropBoxLetters } from "./drop-box-letters.ts";
import { deadUnknown, type TopicLetters, type TopicView } from "./topic-letters.ts";
import { notFound } from "../access/access.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { CollectionView } from "../views.ts";
import type { IngestQueue } from "../documents/ingest-queue.ts";
import { sharedQueue } from "../documents/lanes.ts";

export type QueueView = TopicView;

const documentsQueue = sharedQueue;

interface CollectionPage {
  readonly items: readonly Pick<CollectionView, "documents_by_status" | "incarnation">[];
  readonly next_cursor: string | null;
}

export interface DeadDocument {
  readonly dead_id: string;
  readonly document_id: string;
  readonly cause: DeadSummary["cause"];
  readonly reason: string | null;
  readonly dead_at: string;
  readonly failures: number;
}

const pageLetters = 100;
/** Maximum number of letters of other workspaces skipped before a page ends early. */
const lettersMax = 10_000;

export class QueuesApi {
  readonly #queue: IngestQueue;
  readonly #topics: TopicLetters;
  readonly #dropBox: DropBoxLetters;
  readonly #deps: Pick<KnowledgeDependencies, "items" | "clock">;

  constructor(
    queue: IngestQueue,
    others: { readonly topics: TopicLetters; readonly dropBox: DropBoxLetters },
    deps: Pick<KnowledgeDependencies, "items" | "clock">,
  ) {
    this.#queue = queue;
    ({ topics: this.#topics, dropBox: this.#dropBox } = others);
    this.#deps = deps;
  }

  /** Summed from the counters of the workspace's collections, page by page. */
  async summary(
    caller: Caller,
    collections: (cursor: string | undefined) => Promise<CollectionPage>,
  ): Promise<readonly QueueView[]> {
    const scope = admin(caller);
    const dead = deadUnknown(this.#queue.queue) ?? { dead: (await this.#documents(scope)).length };
    const { items, clock } = this.#deps;
    const sums = { waiting: 0, in_progress: 0, failed: 0 };
    let oldest: number | undefined;
    for await (const { documents_by_status: by, incarnation } of itemsOf((cursor) => collections(cursor))) {
      sums.waiting += by.uploading + by.pending;
      sums.in_progress += by.indexing;
      sums.failed += by.failed;
      const since = await waitingSince(items, scope, incarnation, by);
      if (since !== undefined) oldest = Math.min(oldest ?? since, since);
    }
    const oldest_age_seconds = oldest === undefined ? null : ageSeconds(clock.now(), oldest);
    return [
      { name: documentsQueue, ...sums, ...dead, oldest_age_seconds },
      ...(await this.#topics.summary(scope)),
      ...(await this.#dropBox.summary(scope)),
    ];
  }

  /** How far deletes lag behind; `secondsMax` is the age that raises a warning. */
  async lag(caller: Caller, secondsMax: number): Promise<DeletionLag> {
    return deletionLag(this.#deps, admin(caller), secondsMax);
  }

  async dead(caller: Caller, queue: string): Promise<readonly (DeadDocument | DeadMessage)[]> {
    const scope = admin(caller);
    if (queue === documentsQueue) return this.#documents(scope);
    if (this.#dropBox.has(scope, queue)) return this.#dropBox.dead(scope);
    await this.#requireTopic(queue);
    return this.#topics.dead(scope, queue);
  }

  async #documents(scope: Scope): Promise<readonly DeadDocument[]> {
    const prefix = `${scope.tenant}:`;
    const found: DeadDocument[] = [];
    for (const queue of this.#queue.queuesOf(scope.tenant)) {
      let cursor: string | undefined;
      let seen = 0;
      do {
        const page = await this.#queue.queue.dead.list(this.#queue.scope, queue, { limit: pageLetters, cursor });
        seen += page.letters.length;
        for (const letter of page.letters) if (letter.group.startsWith(prefix)) found.push(deadView(letter, prefix));
        cursor = page.cursor;
      } while (cursor !== undefined && seen < lettersMax);
    }
    return found.toSorted((a, b) => (a.dead_at < b.dead_at ? -1 : a.dead_at > b.dead_at ? 1 : 0));
  }

  async redrive(caller: Caller, queue: string, deadId: string): Promise<void> {
    const scope = admin(caller);
    if (queue !== documentsQueue) {
      const isBox = this.#dropBox.has(scope, queue);
      if (!isBox) await this.#requireTopic(queue);
      if (!(await (isBox ? this.#dropBox.redrive(scope, deadId) : this.#topics.redrive(scope, queue, deadId))))
        throw notFound(`dead letter "${deadId}"`);
      return;
    }
    if (!(await this.#queue.redrive(scope.tenant, keyOf(scope, deadId)))) throw notFound(`dead letter "${deadId}"`);
  }

  async discard(caller: Caller, queue: string, deadId: string): Promise<void> {
    const scope = admin(caller);
    const isBox = this.#dropBox.has(scope, queue);
    if (queue !== documentsQueue && !isBox) await this.#requireTopic(queue);
    const gone = isBox
      ? await this.#dropBox.discard(scope, deadId)
      : queue === documentsQueue
        ? await this.#discardDocument(scope, deadId)
        : await this.#topics.discard(scope, queue, deadId);
    if (!gone) throw notFound(`dead letter "${deadId}"`);
  }

  async #discardDocument(scope: Scope, deadId: string): Promise<boolean> {
    const key = keyOf(scope, deadId);
    for (const queue of this.#queue.queuesOf(scope.tenant))
      if (await this.#queue.queue.dead.discard(this.#queue.scope, queue, key)) return true;
    return false;
  }

  async #requireTopic(queue: string): Promise<void> {
    if (!(await this.#topics.topics()).includes(queue)) throw notFound(`queue "${queue}"`);
  }
}

function admin(caller: Caller): Scope {
  const scope = requireCaller(caller);
  if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Only admins can read queues.");
  return scope;
}

function deadView({ id, group, cause, reason, deadAt, failures }: DeadSummary, prefix: string): DeadDocument {
  const document_id = group.slice(prefix.length);
  return {
    dead_id: `${document_id}.${id}`,
    document_id,
    cause,
    reason: reason ?? null,
    dead_at: new Date(deadAt).toISOString(),
    failures,
  };
}

/** Always within the caller's own workspace, whatever the id says. */
function keyOf({ tenant }: Scope, deadId: string): { group: string; id: string } {
  const dot = deadId.indexOf(".");
  if (dot < 1) throw notFound(`dead letter "${deadId}"`);
  return { group: `${tenant}:${deadId.slice(0, dot)}`, id: deadId.slice(dot + 1) };
}
