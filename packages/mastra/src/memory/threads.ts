/** Threads of memory: one document each, under its id. */
import { jsonValueEquals, type StorageListThreadsInput, type StorageListThreadsOutput } from "@mastra/core/storage";
import type { StorageThreadType } from "@mastra/core/memory";
import type { ContainersApi } from "@pinakes/client";
import { Container, type Document } from "../container.ts";
import { isoTime, toJsonObject } from "../json.ts";
import { takePage, windowOf } from "../page.ts";

type ThreadDocument = Document & {
  readonly kind: "thread";
  readonly resourceId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
};

const perPageDefault = 100;

export class Threads {
  readonly container: Container<ThreadDocument>;

  constructor(api: ContainersApi, prefix: string) {
    this.container = new Container(api, `${prefix}-threads`, {
      partition_key: "/id",
      indexes: {
        byCreated: { partition: ["/kind"], sort: ["/createdAt"] },
        byUpdated: { partition: ["/kind"], sort: ["/updatedAt"] },
        ofResourceByCreated: { partition: ["/resourceId"], sort: ["/createdAt"] },
        ofResourceByUpdated: { partition: ["/resourceId"], sort: ["/updatedAt"] },
      },
    });
  }

  async get(threadId: string, resourceId?: string): Promise<StorageThreadType | null> {
    const document = await this.container.read(keyOf(threadId));
    return document === null || (resourceId !== undefined && document.resourceId !== resourceId)
      ? null
      : fromDocument(document);
  }

  async save(thread: StorageThreadType): Promise<StorageThreadType> {
    await this.container.put(toDocument(thread));
    return thread;
  }

  /** Only if the id is unused. False if it is in use. */
  async create(thread: StorageThreadType): Promise<boolean> {
    let made = false;
    await this.container.modify(keyOf(thread.id), (before) => {
      made = before === null;
      return made ? toDocument(thread) : undefined;
    });
    return made;
  }

  /** Null if there is none. `change` returns undefined to change nothing. */
  async change(
    threadId: string,
    change: (thread: StorageThreadType) => Partial<StorageThreadType> | undefined,
  ): Promise<StorageThreadType | null> {
    const changed = await this.container.modify(keyOf(threadId), (before) => {
      if (before === null) return undefined;
      const thread = fromDocument(before);
      const part = change(thread);
      // Time moves on, also where two changes share a millisecond.
      const updatedAt = new Date(Math.max(Date.now(), thread.updatedAt.getTime() + 1));
      return part === undefined ? undefined : toDocument({ ...thread, updatedAt, ...part });
    });
    return changed === null ? null : fromDocument(changed);
  }

  /** That something in it has changed. A thread need not be there for its messages to be. */
  async touch(threadIds: Iterable<string>): Promise<void> {
    for (const threadId of new Set(threadIds)) await this.change(threadId, () => ({}));
  }

  async list(
    args: StorageListThreadsInput,
    order: { readonly field: "createdAt" | "updatedAt"; readonly direction: "ASC" | "DESC" },
  ): Promise<StorageListThreadsOutput> {
    const page = args.page ?? 0;
    const window = windowOf(page, args.perPage, perPageDefault);
    const { resourceId, metadata = {} } = args.filter ?? {};
    const which = order.field === "createdAt" ? "Created" : "Updated";
    const source = this.container.walk({
      ...(resourceId
        ? { index: `ofResourceBy${which}`, equals: { resourceId } }
        : { index: `by${which}`, equals: { kind: "thread" } }),
      order: order.direction === "ASC" ? "asc" : "desc",
    });
    const wanted = Object.entries(metadata);
    const matches = (document: ThreadDocument) => {
      const own = fromDocument(document).metadata;
      return wanted.every(([key, value]) => own !== undefined && jsonValueEquals(own[key], value));
    };
    const { items, total, hasMore } = await takePage(source, window, { matches });
    return { threads: items.map(fromDocument), total, page, perPage: window.perPage, hasMore };
  }
}

const keyOf = (id: string) => ({ pk: id, id });

function toDocument(thread: StorageThreadType): ThreadDocument {
  const { id, resourceId, title, metadata, createdAt, updatedAt } = thread;
  return {
    id,
    kind: "thread",
    resourceId,
    ...(title === undefined ? {} : { title }),
    ...(metadata === undefined ? {} : { metadata: toJsonObject(metadata) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}

function fromDocument(document: ThreadDocument): StorageThreadType {
  const { id, resourceId, title, metadata, createdAt, updatedAt } = document;
  return {
    id,
    resourceId,
    ...(title === undefined ? {} : { title: title as string }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, unknown> }),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}
