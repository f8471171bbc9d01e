/** Mastra's message lists: a page of a thread or a resource, filtered, with the neighbours of messages requested by id. */
import {
  storageMessageMatchesMetadataFilter,
  validateStorageMetadataFilter,
  type StorageListMessagesByResourceIdInput,
  type StorageListMessagesInput,
  type StorageListMessagesOutput,
} from "@mastra/core/storage";
import type { IndexQuery } from "@pinakes/client";
import { isoTime } from "../json.ts";
import { takePage, windowOf, type PageOf } from "../page.ts";
import { fromDocument, type MessageDocument } from "./message-document.ts";
import type { Messages } from "./messages.ts";

type Options = Omit<StorageListMessagesInput, "threadId">;
type Direction = "ASC" | "DESC";

const perPageDefault = 40;

export async function listOfThreads(
  messages: Messages,
  args: StorageListMessagesInput,
  direction: Direction,
): Promise<StorageListMessagesOutput> {
  const threadIds = [...new Set(Array.isArray(args.threadId) ? args.threadId : [args.threadId])];
  if (threadIds.length === 0 || threadIds.some((id) => !id.trim())) {
    throw new Error("threadId must be a non-empty string or array of non-empty strings");
  }
  const query = { order: direction === "ASC" ? ("asc" as const) : ("desc" as const), range: rangeOf(args) };
  const source = merged(
    threadIds.map((threadId) => messages.ofThread(threadId, query)),
    direction,
  );
  return list(messages, source, args, direction, ({ threadId }) => threadIds.includes(threadId));
}

export async function listOfResource(
  messages: Messages,
  args: StorageListMessagesByResourceIdInput,
  direction: Direction,
): Promise<StorageListMessagesOutput> {
  const source = messages.ofResource(args.resourceId, {
    order: direction === "ASC" ? "asc" : "desc",
    range: rangeOf(args),
  });
  return list(messages, source, args, direction, ({ resourceId }) => resourceId === args.resourceId);
}

async function list(
  messages: Messages,
  source: AsyncIterable<MessageDocument>,
  args: Options,
  direction: Direction,
  isListed: (document: MessageDocument) => boolean,
): Promise<StorageListMessagesOutput> {
  const page = args.page ?? 0;
  const window = windowOf(page, args.perPage, perPageDefault);
  const metadata = validateStorageMetadataFilter(args.filter?.metadata);
  const matches = ({ resourceId, content }: MessageDocument) =>
    (!args.resourceId || resourceId === args.resourceId) && storageMessageMatchesMetadataFilter(content, metadata);
  const none: PageOf<MessageDocument> = { items: [], total: 0, hasMore: false };
  const found =
    window.size === 0 ? none : await takePage(source, window, { matches, countAll: args.includeTotal !== false });
  const shown = new Map(found.items.map((document) => [document.id, document]));
  for (const document of await included(messages, args)) shown.set(document.id, document);
  const sorted = [...shown.values()].sort((a, b) => compare(a, b, direction));
  const known =
    args.includeTotal !== false && (args.include?.length ?? 0) > 0 && metadata === undefined && window.size > 0;
  // Included messages count as shown: a page that shows all messages has no next page.
  const hasMore = known ? found.hasMore && sorted.filter(isListed).length < found.total : found.hasMore;
  return { messages: sorted.map(fromDocument), total: found.total, page, perPage: window.perPage, hasMore };
}

function rangeOf({ filter }: Options): NonNullable<IndexQuery["range"]> {
  const { start, end, startExclusive = false, endExclusive = false } = filter?.dateRange ?? {};
  return {
    ...(start === undefined ? {} : { [startExclusive ? "gt" : "gte"]: isoTime(start) }),
    ...(end === undefined ? {} : { [endExclusive ? "lt" : "lte"]: isoTime(end) }),
  };
}

/** Each target with the requested number of messages before and after it in its own thread; none of another resource. */
async function included(messages: Messages, { include = [], resourceId }: Options): Promise<MessageDocument[]> {
  const targets = await messages.byId(include.map(({ id }) => id));
  const found: MessageDocument[] = [];
  for (const target of targets) {
    const isAllowed = (document: MessageDocument) => !resourceId || document.resourceId === resourceId;
    if (!isAllowed(target)) continue;
    const asked = include.filter(({ id }) => id === target.id);
    const before = Math.max(...asked.map((wish) => wish.withPreviousMessages ?? 0));
    const after = Math.max(...asked.map((wish) => wish.withNextMessages ?? 0));
    const older = messages.ofThread(target.threadId, { order: "desc", range: { lte: target.createdAt } });
    const newer = messages.ofThread(target.threadId, { order: "asc", range: { gte: target.createdAt } });
    found.push(
      target,
      ...(await neighbours(older, target, before, isAllowed)),
      ...(await neighbours(newer, target, after, isAllowed)),
    );
  }
  return found;
}

/** Messages after the target in the scan; messages of the same millisecond may come before it. */
async function neighbours(
  walk: AsyncIterable<MessageDocument>,
  target: MessageDocument,
  count: number,
  isAllowed: (document: MessageDocument) => boolean,
): Promise<MessageDocument[]> {
  const found: MessageDocument[] = [];
  if (count === 0) return found;
  let isBeyond = false;
  for await (const document of walk) {
    if (isBeyond && isAllowed(document)) found.push(document);
    if (document.id === target.id) isBeyond = true;
    if (found.length === count) break;
  }
  return found;
}

/** Walks that are each in order, as one. */
async function* merged(
  walks: readonly AsyncGenerator<MessageDocument>[],
  direction: Direction,
): AsyncGenerator<MessageDocument> {
  const heads = await Promise.all(walks.map(async (walk) => ({ walk, next: await walk.next() })));
  while (true) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (
        !head.next.done &&
        (first === undefined || first.next.done || compare(head.next.value, first.next.value, direction) < 0)
      )
        first = head;
    }
    if (first === undefined || first.next.done) return;
    yield first.next.value;
    first.next = await first.walk.next();
  }
}

function compare(a: MessageDocument, b: MessageDocument, direction: Direction): number {
  const [left, right] = direction === "ASC" ? [a, b] : [b, a];
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? -1 : 1;
  return left.order === right.order ? 0 : left.order < right.order ? -1 : 1;
}
