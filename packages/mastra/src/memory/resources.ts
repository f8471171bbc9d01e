/** Resources: data remembered about a user or another owner of threads, primarily working memory. */
import type { StorageResourceType } from "@mastra/core/storage";
import type { ContainersApi } from "@pinakes/client";
import { Container, type Document } from "../container.ts";
import { isoTime, toJsonObject } from "../json.ts";

type ResourceDocument = Document & { readonly createdAt: string; readonly updatedAt: string };

export class Resources {
  readonly container: Container<ResourceDocument>;

  constructor(api: ContainersApi, prefix: string) {
    this.container = new Container(api, `${prefix}-resources`, { partition_key: "/id" });
  }

  async get(resourceId: string): Promise<StorageResourceType | null> {
    const document = await this.container.read(keyOf(resourceId));
    return document === null ? null : fromDocument(document);
  }

  async save(resource: StorageResourceType): Promise<StorageResourceType> {
    await this.container.put(toDocument(resource));
    return resource;
  }

  /** Created if missing. Metadata is merged; absent properties are unchanged. */
  async update(
    resourceId: string,
    change: { readonly workingMemory?: string; readonly metadata?: Record<string, unknown> },
  ): Promise<StorageResourceType> {
    const changed = await this.container.modify(keyOf(resourceId), (before) => {
      const now = new Date();
      const resource: StorageResourceType =
        before === null ? { id: resourceId, metadata: {}, createdAt: now, updatedAt: now } : fromDocument(before);
      const { workingMemory = resource.workingMemory, metadata } = change;
      return toDocument({
        ...resource,
        ...(workingMemory === undefined ? {} : { workingMemory }),
        metadata: { ...resource.metadata, ...metadata },
        updatedAt: now,
      });
    });
    return fromDocument(changed as ResourceDocument);
  }
}

const keyOf = (id: string) => ({ pk: id, id });

function toDocument({ id, workingMemory, metadata, createdAt, updatedAt }: StorageResourceType): ResourceDocument {
  return {
    id,
    ...(workingMemory === undefined ? {} : { workingMemory }),
    ...(metadata === undefined ? {} : { metadata: toJsonObject(metadata) }),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}

function fromDocument({ id, workingMemory, metadata, createdAt, updatedAt }: ResourceDocument): StorageResourceType {
  return {
    id,
    ...(workingMemory === undefined ? {} : { workingMemory: workingMemory as string }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, unknown> }),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}
