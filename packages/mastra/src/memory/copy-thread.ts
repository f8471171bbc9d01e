/** A thread again under another id, with its messages or some of them. */
import type { StorageThreadType } from "@mastra/core/memory";
import type { StorageCloneThreadInput, StorageCopyThreadOutput, ThreadCloneMetadata } from "@mastra/core/storage";
import { fromDocument, type MessageDocument } from "./message-document.ts";
import type { Messages } from "./messages.ts";
import type { Threads } from "./threads.ts";

/** Messages that are written at a time. */
const copiedAtOnce = 200;

export async function copyThread(
  threads: Threads,
  messages: Messages,
  args: StorageCloneThreadInput,
): Promise<StorageCopyThreadOutput> {
  const source = await threads.get(args.sourceThreadId);
  if (source === null) throw new Error(`Source thread with id ${args.sourceThreadId} not found`);
  const chosen = await choose(messages, args);
  const now = new Date();
  const lastMessageId = chosen.at(-1)?.id;
  const clone: ThreadCloneMetadata = {
    sourceThreadId: source.id,
    clonedAt: now,
    ...(lastMessageId === undefined ? {} : { lastMessageId }),
  };
  const title = args.title || (source.title ? `Clone of ${source.title}` : undefined);
  const thread: StorageThreadType = {
    id: args.newThreadId || crypto.randomUUID(),
    resourceId: args.resourceId || source.resourceId,
    ...(title === undefined ? {} : { title }),
    metadata: { ...args.metadata, clone },
    createdAt: now,
    updatedAt: now,
  };
  if (!(await threads.create(thread))) throw new Error(`Thread with id ${thread.id} already exists`);
  const messageIdMap: Record<string, string> = {};
  for (let i = 0; i < chosen.length; i += copiedAtOnce) {
    const copies = chosen.slice(i, i + copiedAtOnce).map((document) => {
      const id = crypto.randomUUID();
      messageIdMap[document.id] = id;
      const resourceId = args.resourceId || document.resourceId;
      return {
        ...fromDocument(document),
        id,
        threadId: thread.id,
        ...(resourceId === undefined ? {} : { resourceId }),
      };
    });
    await messages.save(copies);
  }
  return { thread, messageIdMap };
}

async function choose(
  messages: Messages,
  { sourceThreadId, options }: StorageCloneThreadInput,
): Promise<MessageDocument[]> {
  const { startDate, endDate, messageIds } = options?.messageFilter ?? {};
  const range = {
    ...(startDate ? { gte: startDate.toISOString() } : {}),
    ...(endDate ? { lte: endDate.toISOString() } : {}),
  };
  const wanted = messageIds && messageIds.length > 0 ? new Set(messageIds) : undefined;
  const chosen: MessageDocument[] = [];
  for await (const document of messages.ofThread(sourceThreadId, { order: "asc", range })) {
    if (wanted === undefined || wanted.has(document.id)) chosen.push(document);
  }
  const limit = options?.messageLimit;
  return limit && limit > 0 ? chosen.slice(-limit) : chosen;
}
