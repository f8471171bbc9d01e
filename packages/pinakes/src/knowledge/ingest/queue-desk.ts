/**
 * The queue of documents, and those of the lifecycle, as a workspace's admins see them: only their own. The queue itself is the system's,
 * shared by all workspaces; a group begins with the workspace's name, and nothing else of it is shown.
 */
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { DeadSummary } from "../../ports/queue.ts";
import { waitingSince } from "../documents/backlog.ts";
import { ageSeconds, deletionLag, type DeletionLag } from "../jobs/deletion-lag.ts";
import type { DeadMessage, TopicDesk, TopicView } from "../jobs/topic-desk.ts";
import { notFound } from "../model/access.ts";
import type { KnowledgeParts } from "../parts.ts";
import type { CollectionView } from "../views.ts";
import { documentsQueue, type IngestQueue } from "./ingest-queue.ts";

export type QueueView = TopicView;

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
/** As many letters of other workspaces are passed over before a page ends early. */
const lettersMax = 10_000;

export class QueueDesk {
  readonly #queue: IngestQueue;
  readonly #topics: TopicDesk;
  readonly #parts: Pick<KnowledgeParts, "items" | "clock">;

  constructor(queue: IngestQueue, topics: TopicDesk, parts: Pick<KnowledgeParts, "items" | "clock">) {
    this.#queue = queue;
    this.#topics = topics;
    this.#parts = parts;
  }

  /** From the counters of the workspace's collections, page by page. */
  async summary(caller: Caller, collections: (cursor: string | undefined) => Promise<CollectionPage>): Promise<readonly QueueView[]> {
    const scope = admin(caller);
    const dead = this.#queue.queue.capabilities.inspectDead ? (await this.#documents(scope)).length : null;
    const { items, clock } = this.#parts;
    const sums = { waiting: 0, in_progress: 0, failed: 0 };
    let oldest: number | undefined;
    let cursor: string | undefined;
    do {
      const page = await collections(cursor);
      for (const { documents_by_status: by, incarnation } of page.items) {
        sums.waiting += by.uploading + by.pending;
        sums.in_progress += by.indexing;
        sums.failed += by.failed;
        const since = await waitingSince(items, scope, incarnation, by);
        if (since !== undefined) oldest = Math.min(oldest ?? since, since);
      }
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    const oldest_age_seconds = oldest === undefined ? null : ageSeconds(clock.now(), oldest);
    return [{ name: documentsQueue, ...sums, dead, oldest_age_seconds }, ...(await this.#topics.summary(scope))];
  }

  /** How far the workspace's deletes are behind; `secondsMax` is the age at which that is warned of. */
  async lag(caller: Caller, secondsMax: number): Promise<DeletionLag> {
    return deletionLag(this.#parts, admin(caller), secondsMax);
  }

  async dead(caller: Caller, queue: string): Promise<readonly (DeadDocument | DeadMessage)[]> {
    const scope = admin(caller);
    if (queue === documentsQueue) return this.#documents(scope);
    await this.#requireTopic(queue);
    return this.#topics.dead(scope, queue);
  }

  async #documents(scope: Scope): Promise<readonly DeadDocument[]> {
    const prefix = `${scope.tenant}:`;
    const found: DeadDocument[] = [];
    let cursor: string | undefined;
    let seen = 0;
    do {
      const page = await this.#queue.queue.dead.list(this.#queue.scope, documentsQueue, { limit: pageLetters, ...(cursor === undefined ? {} : { cursor }) });
      seen += page.letters.length;
      for (const letter of page.letters) if (letter.group.startsWith(prefix)) found.push(deadView(letter, prefix));
      cursor = page.cursor;
    } while (cursor !== undefined && seen < lettersMax);
    return found;
  }

  async redrive(caller: Caller, queue: string, deadId: string): Promise<void> {
    const scope = admin(caller);
    if (queue !== documentsQueue) {
      await this.#requireTopic(queue);
      if (!(await this.#topics.redrive(scope, queue, deadId))) throw notFound(`dead letter "${deadId}"`);
      return;
    }
    const key = keyOf(scope, deadId);
    if ((await this.#queue.queue.dead.inspect(this.#queue.scope, queue, key)) === undefined) throw notFound(`dead letter "${deadId}"`);
    await this.#queue.queue.dead.redrive(this.#queue.scope, queue, key);
  }

  async discard(caller: Caller, queue: string, deadId: string): Promise<void> {
    const scope = admin(caller);
    if (queue !== documentsQueue) await this.#requireTopic(queue);
    const gone =
      queue === documentsQueue
        ? await this.#queue.queue.dead.discard(this.#queue.scope, queue, keyOf(scope, deadId))
        : await this.#topics.discard(scope, queue, deadId);
    if (!gone) throw notFound(`dead letter "${deadId}"`);
  }

  async #requireTopic(queue: string): Promise<void> {
    if (!(await this.#topics.topics()).includes(queue)) throw notFound(`queue "${queue}"`);
  }
}

function admin(caller: Caller): Scope {
  const scope = requireCaller(caller);
  if (caller.role !== "admin") throw new PinakesError("FORBIDDEN", "Queues are for admins.");
  return scope;
}

function deadView({ id, group, cause, reason, deadAt, failures }: DeadSummary, prefix: string): DeadDocument {
  const document_id = group.slice(prefix.length);
  return { dead_id: `${document_id}.${id}`, document_id, cause, reason: reason ?? null, dead_at: new Date(deadAt).toISOString(), failures };
}

/** The caller's own workspace, whatever the id says. */
function keyOf({ tenant }: Scope, deadId: string): { group: string; id: string } {
  const dot = deadId.indexOf(".");
  if (dot < 1) throw notFound(`dead letter "${deadId}"`);
  return { group: `${tenant}:${deadId.slice(0, dot)}`, id: deadId.slice(dot + 1) };
}
