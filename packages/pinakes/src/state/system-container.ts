/** What the containers API must know of a system container, so that writes through it follow the rules of its feature. */
import type { IndexingPolicy } from "@pinakes/client";
import type { z } from "zod";
import type { Caller } from "../domain/caller.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { ContainerDefinition, ItemStore, Operation, Partition, Range } from "../ports/item-store.ts";

export interface GenericWrite {
  readonly caller: Caller;
  /** The stored item; undefined for a create. */
  readonly before: JsonObject | undefined;
  readonly document: JsonObject;
  readonly now: number;
}

export interface SystemContainer {
  readonly definition: ContainerDefinition;
  /** Null: documents of any shape. */
  readonly schema: z.ZodType<object, object> | null;
  /** As in the original schema; null if it has none. */
  readonly policy: IndexingPolicy | null;
  /** Why items cannot be changed or deleted through the containers API, with an alternative; absent if they can. */
  readonly appendOnly?: string;
  /** The index of all documents (without companions), for queries that no other index serves. */
  readonly scanIndex: string;
  /** The value of all documents in the first sort path of `scanIndex`; other items lack it, so a scan skips them. */
  readonly scanRange?: Range;
  /** Validates by the rules of the feature and sets defaults; throws on errors. */
  readonly prepare?: (write: GenericWrite) => JsonObject;
  /** Called before documents are written, with those of one batch: throws if a limit of the workspace is exceeded. */
  readonly admit?: (items: ItemStore, scope: Scope, documents: readonly JsonObject[]) => Promise<void>;
  /** Operations that must be in the same batch (stamps, leases). If one of them fails, the rules of the feature reject the write. */
  readonly companions?: (operations: readonly Operation[], now?: number) => readonly Operation[];
  /** The error for a caller whose write was rejected because this companion operation failed: in terms of the feature, not of its items. */
  readonly refusal?: (companion: Operation, partition: Partition) => string;
}

/** Prefix of reserved ids. */
export const reservedIdPrefix = "~";
/** Marks items that hold a fact about a partition and are not documents. */
export const companionField = "pinakes_companion";
