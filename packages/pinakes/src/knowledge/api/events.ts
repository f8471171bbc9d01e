/**
 * Events read from the change feeds of the records, so none is missed, whichever process caused it. An event id holds the cursors of the
 * feeds; a client that reconnects with it resumes right after it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Incarnation } from "../../lifecycle/index.ts";
import type { Change, ItemStore } from "../../ports/item-store.ts";
import { decideCollection } from "../access/access.ts";
import type { CatalogRecords } from "../records/catalog-records.ts";
import {
  collectionsContainer,
  documentsContainer,
  type CollectionRecord,
  type DocumentRecord,
} from "../records/records.ts";
import type { JobRecord } from "../jobs/jobs.ts";
import { seesDocument } from "../access/document-access.ts";
import { hiddenDocuments } from "../access/hidden-documents.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { shownJob, sightOfJob } from "../access/sees-job.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";

export interface KnowledgeEvent {
  readonly id: string;
  readonly type: "document.status" | "collection.status" | "job.progress" | "job.done";
  readonly workspace_id: string;
  readonly resource: JsonObject;
  readonly data: JsonObject;
  readonly at: string;
}

export interface FollowEvents {
  /** Id of the last event received; absent: from now on. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  /** Called when the position from which events are told is known. */
  readonly onOpen?: (() => void) | undefined;
  readonly pollMs?: number;
}

const feeds = [documentsContainer.name, collectionsContainer.name, "jobs"] as const;
type Cursors = Partial<Record<(typeof feeds)[number], string>>;
const pollMsDefault = 500;
const changesPerPage = 100;

export async function* followEvents(
  deps: KnowledgeDependencies,
  catalog: CatalogRecords,
  caller: Caller,
  options: FollowEvents,
): AsyncGenerator<KnowledgeEvent, void> {
  const scope = requireCaller(caller);
  const { signal, pollMs = pollMsDefault } = options;
  let cursors = await cursorsNow(deps, caller, options.after === undefined ? {} : readId(options.after));
  options.onOpen?.();
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    let idle = true;
    for (const feed of feeds) {
      const page = await deps.items.changes(scope, feed, { cursor: cursors[feed], limit: changesPerPage });
      for (const change of page.changes) {
        if (isStopped()) return;
        const event = await eventOf({ catalog, items: deps.items }, caller, feed, change);
        // Within a page the id is the cursor of the page's start: after a reconnect some events may repeat, none is lost.
        if (event !== undefined) yield { ...event, id: makeId(cursors) };
      }
      idle &&= page.changes.length === 0;
      cursors = { ...cursors, [feed]: page.cursor };
    }
    if (idle) await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
}

/** The id from which only events of the future are told. */
export async function latestEventId(deps: KnowledgeDependencies, caller: Caller): Promise<string> {
  return makeId(await cursorsNow(deps, caller, {}));
}

/** The known cursors, and the ends of the other feeds. */
async function cursorsNow(deps: KnowledgeDependencies, caller: Caller, known: Cursors): Promise<Cursors> {
  const scope = requireCaller(caller);
  let cursors = known;
  for (const feed of feeds) {
    if (cursors[feed] !== undefined) continue;
    const { cursor } = await deps.items.changes(scope, feed, { from: "now", limit: 1 });
    cursors = { ...cursors, [feed]: cursor };
  }
  return cursors;
}

type Unplaced = Omit<KnowledgeEvent, "id">;

interface Records {
  readonly catalog: CatalogRecords;
  readonly items: ItemStore;
}

async function eventOf(records: Records, caller: Caller, feed: string, change: Change): Promise<Unplaced | undefined> {
  const { document, at } = change;
  if (document === undefined) return undefined;
  const kind = document["kind"];
  const when = new Date(at).toISOString();
  const workspace_id = caller.scope.tenant;
  if (feed === "jobs") {
    const stored = document as unknown as JobRecord;
    const sight = await sightOfJob(records, caller, stored);
    if (sight === undefined) return undefined;
    const job = shownJob(stored, sight);
    const over = job.status !== "queued" && job.status !== "running";
    const { job_id, status, progress, error, repository_id, collection_id } = job;
    const data = { kind: job.kind, status, progress, error };
    return {
      type: over ? "job.done" : "job.progress",
      workspace_id,
      resource: { job_id, repository_id, collection_id },
      data,
      at: when,
    };
  }
  if (kind === "document") {
    const record = document as unknown as DocumentRecord;
    const { document_id, repository_id, collection_id, status, error, progress, version, name } = record;
    const seen = await opened(records, caller, record);
    // By the document as it is now, and as it was then.
    const hidden = seen === undefined ? undefined : await hiddenDocuments(records, caller, seen);
    if (seen === undefined || hidden?.values.has(document_id) === true) return undefined;
    if (!seesDocument(caller, seen.decision, record)) return undefined;
    const resource = { document_id, repository_id, collection_id };
    return {
      type: "document.status",
      workspace_id,
      resource,
      data: { name, status, error, progress, version },
      at: when,
    };
  }
  if (kind === "collection") {
    const record = document as unknown as CollectionRecord;
    const { repository_id, collection_id, status, name } = record;
    if ((await opened(records, caller, record)) === undefined) return undefined;
    return {
      type: "collection.status",
      workspace_id,
      resource: { repository_id, collection_id },
      data: { name, status },
      at: when,
    };
  }
  return undefined;
}

/** Checked for each event: a caller who loses a group receives no further events. Undefined: the caller may not see the collection. */
async function opened(
  { catalog }: Records,
  caller: Caller,
  incarnation: Incarnation,
): Promise<Pick<OpenCollection, "collection" | "decision"> | undefined> {
  const [repository, current] = await catalog.both(caller.scope, incarnation.repository_id, incarnation.collection_id);
  // For another incarnation of the same id, its own record decides.
  const collection =
    current?.record.incarnation === incarnation.incarnation
      ? current
      : await catalog.incarnation(caller.scope, incarnation);
  if (repository === undefined || collection === undefined) return undefined;
  const decision = decideCollection(caller, repository.record, collection.record);
  return decision.level === null ? undefined : { collection: collection.record, decision };
}

function makeId(cursors: Cursors): string {
  return Buffer.from(JSON.stringify(feeds.map((feed) => cursors[feed] ?? null)), "utf8").toString("base64url");
}

function readId(id: string): Cursors {
  try {
    const cursors = JSON.parse(Buffer.from(id, "base64url").toString("utf8")) as unknown;
    if (!Array.isArray(cursors) || cursors.length !== feeds.length)
      throw new PinakesError("INVALID", "unknown cursor format");
    return Object.fromEntries(
      feeds.flatMap((feed, i) => (typeof cursors[i] === "string" ? [[feed, cursors[i]] as const] : [])),
    );
  } catch (error) {
    throw invalid("Last-Event-ID: is not the id of an event of this stream.", { cause: error });
  }
}
