/** Mastra's memory domain: threads, messages, resources and their working memory. Observational memory is not offered. */
import {
  MemoryStorage,
  type StorageCloneThreadInput,
  type StorageCopyThreadOutput,
  type StorageListMessagesByResourceIdInput,
  type StorageListMessagesInput,
  type StorageListMessagesOutput,
  type StorageListThreadsInput,
  type StorageListThreadsOutput,
  type StorageResourceType,
} from "@mastra/core/storage";
import type { MastraDBMessage, StorageThreadType } from "@mastra/core/memory";
import type { ContainersApi } from "@pinakes/client";
import { copyThread } from "./copy-thread.ts";
import { listOfResource, listOfThreads } from "./list-messages.ts";
import { fromDocument } from "./message-document.ts";
import { Messages, type MessageUpdate } from "./messages.ts";
import { Resources } from "./resources.ts";
import { Threads } from "./threads.ts";

export class PinakesMemory extends MemoryStorage {
  override readonly supportsPartialThreadUpdate = true;
  readonly #threads: Threads;
  readonly #messages: Messages;
  readonly #resources: Resources;

  constructor(api: ContainersApi, prefix: string) {
    super();
    this.#threads = new Threads(api, prefix);
    this.#messages = new Messages(api, prefix);
    this.#resources = new Resources(api, prefix);
  }

  override async init(): Promise<void> {
    for (const container of this.#containers()) await container.ready();
  }

  async dangerouslyClearAll(): Promise<void> {
    for (const container of this.#containers()) await container.clear();
  }

  #containers() {
    return [this.#threads.container, this.#messages.container, this.#messages.places, this.#resources.container];
  }

  async getThreadById({
    threadId,
    resourceId,
  }: {
    threadId: string;
    resourceId?: string;
  }): Promise<StorageThreadType | null> {
    return this.#threads.get(threadId, resourceId);
  }

  async saveThread({ thread }: { thread: StorageThreadType }): Promise<StorageThreadType> {
    return this.#threads.save(thread);
  }

  async updateThread({
    id,
    title,
    metadata,
  }: {
    id: string;
    title?: string;
    metadata?: Record<string, unknown>;
  }): Promise<StorageThreadType> {
    const changed = await this.#threads.change(id, (thread) => ({
      ...(title === undefined ? {} : { title }),
      ...(metadata === undefined ? {} : { metadata: { ...thread.metadata, ...metadata } }),
    }));
    if (changed === null) throw new Error(`Thread with id ${id} not found`);
    return changed;
  }

  /** On the etag that was read, so that no process overwrites what another one has just written. */
  override async updateThreadMetadata(args: {
    id: string;
    resourceId?: string;
    update: (thread: StorageThreadType) => Record<string, unknown> | undefined;
  }): Promise<StorageThreadType | null> {
    let isOther = false;
    const changed = await this.#threads.change(args.id, (thread) => {
      isOther = args.resourceId !== undefined && thread.resourceId !== args.resourceId;
      const metadata = isOther ? undefined : args.update(thread);
      return metadata === undefined ? undefined : { metadata: { ...thread.metadata, ...metadata } };
    });
    return isOther ? null : changed;
  }

  async deleteThread({ threadId }: { threadId: string }): Promise<void> {
    // The thread is deleted last: as long as it exists, the delete can be repeated.
    await this.#messages.deleteThread(threadId);
    await this.#threads.container.delete({ pk: threadId, id: threadId });
  }

  async listThreads(args: StorageListThreadsInput): Promise<StorageListThreadsOutput> {
    this.validatePaginationInput(args.page ?? 0, args.perPage ?? 100);
    this.validateMetadataKeys(args.filter?.metadata);
    return this.#threads.list(args, this.parseOrderBy(args.orderBy));
  }

  override async copyThread(args: StorageCloneThreadInput): Promise<StorageCopyThreadOutput> {
    return copyThread(this.#threads, this.#messages, args);
  }

  async listMessages(args: StorageListMessagesInput): Promise<StorageListMessagesOutput> {
    return listOfThreads(this.#messages, args, this.parseOrderBy(args.orderBy, "ASC").direction);
  }

  override async listMessagesByResourceId(
    args: StorageListMessagesByResourceIdInput,
  ): Promise<StorageListMessagesOutput> {
    return listOfResource(this.#messages, args, this.parseOrderBy(args.orderBy, "ASC").direction);
  }

  async listMessagesById({ messageIds }: { messageIds: string[] }): Promise<{ messages: MastraDBMessage[] }> {
    return { messages: (await this.#messages.byId(messageIds)).map(fromDocument) };
  }

  async saveMessages({ messages }: { messages: MastraDBMessage[] }): Promise<{ messages: MastraDBMessage[] }> {
    await this.#threads.touch(await this.#messages.save(messages));
    return { messages };
  }

  async updateMessages({ messages }: { messages: MessageUpdate[] }): Promise<MastraDBMessage[]> {
    const updated = await this.#messages.update(messages);
    await this.#threads.touch(updated.threadIds);
    return updated.messages;
  }

  override async deleteMessages(messageIds: string[]): Promise<void> {
    await this.#threads.touch(await this.#messages.delete(messageIds));
  }

  override async getResourceById({ resourceId }: { resourceId: string }): Promise<StorageResourceType | null> {
    return this.#resources.get(resourceId);
  }

  override async saveResource({ resource }: { resource: StorageResourceType }): Promise<StorageResourceType> {
    return this.#resources.save(resource);
  }

  override async updateResource(args: {
    resourceId: string;
    workingMemory?: string;
    metadata?: Record<string, unknown>;
  }): Promise<StorageResourceType> {
    return this.#resources.update(args.resourceId, args);
  }
}
