/** What the containers API must know of a container of the system, so that writes through it keep the rules of its feature. */
import type { IndexingPolicy } from "@pinakes/client";
import type { z } from "zod";
import type { Caller } from "../domain/caller.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import type { ContainerDefinition, ItemStore, Operation, Partition, Range } from "../ports/item-store.ts";

export interface GenericWrite {
  readonly caller: Caller;
  /** What is stored now; undefined for a create. */
  readonly before: JsonObject | undefined;
  readonly document: JsonObject;
  readonly now: number;
}

export interface SystemContainer {
  readonly definition: ContainerDefinition;
  /** Null: documents of any shape. */
  readonly schema: z.ZodType<object, object> | null;
  /** As the source document has it; null where it has none. */
  readonly policy: IndexingPolicy | null;
  /** Why items cannot be changed or deleted through the containers API, with what to do instead; absent where they can. */
  readonly appendOnly?: string;
  /** The index that holds every document (no companions), for queries that nothing else serves. */
  readonly scanIndex: string;
  /** What all documents have in the first sort path of `scanIndex`, and other items in it have not: a scan need not look at those. */
  readonly scanRange?: Range;
  /** Checks the rules of the feature and fills in what it fills in; throws what is wrong. */
  readonly prepare?: (write: GenericWrite) => JsonObject;
  /** Called before documents are written, with those of one batch: throws where a limit of the workspace refuses them. */
  readonly admit?: (items: ItemStore, scope: Scope, documents: readonly JsonObject[]) => Promise<void>;
  /** Operations that must be in the same batch (stamps, leases). Where one of them fails, the rules of the feature refuse the write. */
  readonly companions?: (operations: readonly Operation[], now?: number) => readonly Operation[];
  /** For further attempts, one after another, where one of the first failed. */
  readonly otherCompanions?: (operations: readonly Operation[], now?: number) => readonly (readonly Operation[])[];
  /** What to tell a caller whose write was refused because this companion operation failed: in terms of the feature, not of its items. */
  readonly refusal?: (companion: Operation, partition: Partition) => string;
}

/** Ids that begin so are the system's own. */
export const reservedIdPrefix = "~";
/** Marks items that keep a fact about a partition and are not documents. */
export const companionField = "pinakes_companion";
