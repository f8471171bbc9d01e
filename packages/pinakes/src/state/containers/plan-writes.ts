/**
 * Converts a caller's operations to those of the item store. If a rule of the container, a condition or a read depends on the stored item,
 * the operations are simulated here, in order, and each is made conditional on the etag that it was simulated on: if another writer changed
 * it first, the batch fails as a whole and is planned again.
 */
import { PinakesError, inBatch } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { applyPatch } from "../../domain/patch.ts";
import type { Item, Operation } from "../../ports/item-store.ts";
import { checkPatchPaths, completeDocument, isCompanion, noItem, type Incoming } from "./documents.ts";
import { idOfWrite, type Write } from "./writes.ts";

export interface PlannedWrite {
  readonly operation: Operation;
  readonly id: string;
  /** The condition is ours: if it fails, another writer changed the item first. */
  readonly guarded: boolean;
  /** After this operation; undefined for a delete, and if only the store knows it. */
  readonly document: JsonObject | undefined;
  /** The stored item, if this operation does not change it. */
  readonly item: Item | undefined;
  readonly status: number;
}

/** The planned state of an item of a batch. */
interface Draft {
  readonly document: JsonObject | undefined;
  /** The stored item; undefined once this batch has changed it, or if there is none. */
  readonly item: Item | undefined;
  readonly touched: boolean;
}

/** Whether planning this needs the stored item. */
export function needsStored({ target: { system }, exactUpserts }: Incoming, write: Write): boolean {
  if (write.op === "read") return true;
  if (write.op === "upsert" && exactUpserts === true) return true;
  if (write.op === "patch")
    return write.condition !== undefined || system?.prepare !== undefined || (system?.schema ?? null) !== null;
  return (write.op === "upsert" || write.op === "replace") && system?.prepare !== undefined;
}

/** `stored`: the items read, by id; undefined if none was needed. */
export function planWrites(
  incoming: Incoming,
  writes: readonly Write[],
  stored: ReadonlyMap<string, Item> | undefined,
): readonly PlannedWrite[] {
  const drafts = new Map<string, Draft>();
  return writes.map((write, i) => {
    try {
      if (stored === undefined) return planBlind(incoming, write);
      const id = idOfWrite(write);
      const item = id === undefined ? undefined : stored.get(id);
      const draft = (id === undefined ? undefined : drafts.get(id)) ?? {
        document: item?.document,
        item,
        touched: false,
      };
      const planned = planOn(incoming, write, draft);
      if (planned.operation.op !== "check")
        drafts.set(planned.id, { document: planned.document, item: undefined, touched: true });
      return planned;
    } catch (error) {
      throw PinakesError.isInstance(error) ? inBatch(error, i, writes.length) : error;
    }
  });
}

/** Does not depend on the stored item: the store decides. */
function planBlind(incoming: Incoming, write: Write): PlannedWrite {
  if ("document" in write)
    return plannedPut(write.op, completeDocument(incoming, write.document, undefined), conditionOf(write), false);
  if (write.op === "patch") checkPatchPaths(incoming, write.steps);
  return {
    operation: plainOperation(write),
    id: write.id,
    guarded: false,
    document: undefined,
    item: undefined,
    status: write.op === "delete" ? 204 : 200,
  };
}

function planOn(incoming: Incoming, write: Write, draft: Draft): PlannedWrite {
  requireMatch(write, draft);
  switch (write.op) {
    case "create":
    case "delete":
    case "check":
      return planBlind(incoming, write);
    case "upsert":
      return planUpsert(incoming, write, draft);
    case "replace": {
      if (draft.document === undefined) throw noItem(incoming.target, idOfWrite(write) ?? "");
      const document = completeDocument(incoming, write.document, draft.document);
      return plannedPut("replace", document, ...guardOf(write, draft));
    }
    case "patch":
      return planPatch(incoming, write, draft);
    case "read": {
      const { document, item, touched } = draft;
      if (document === undefined || isCompanion({ document })) throw noItem(incoming.target, write.id);
      const condition = item === undefined ? {} : { ifMatch: item.etag };
      return {
        operation: { op: "check", id: write.id, ...condition },
        id: write.id,
        guarded: !touched,
        document,
        item,
        status: 200,
      };
    }
  }
}

function planUpsert(
  incoming: Incoming,
  write: Extract<Write, { op: "upsert" | "replace" }>,
  draft: Draft,
): PlannedWrite {
  const document = completeDocument(incoming, write.document, draft.document);
  const created = incoming.exactUpserts === true && draft.document === undefined ? 201 : 200;
  if (write.ifMatch !== undefined || draft.touched)
    return { ...plannedPut("upsert", document, conditionOf(write), false), status: created };
  // The condition of the simulation: the item has this etag, or does not exist.
  if (draft.item === undefined) return { ...plannedPut("create", document, {}, true), status: created };
  return plannedPut("replace", document, { ifMatch: draft.item.etag }, true);
}

function planPatch(incoming: Incoming, write: Extract<Write, { op: "patch" }>, draft: Draft): PlannedWrite {
  const { target } = incoming;
  if (draft.document === undefined) throw noItem(target, write.id);
  checkPatchPaths(incoming, write.steps);
  if (write.condition?.(draft.document) === false)
    throw unmet(`The condition does not hold for item "${write.id}"; nothing was changed.`, draft);
  const [condition, guarded] = guardOf(write, draft);
  const patched = applyPatch(draft.document, write.steps);
  if (target.system !== undefined)
    return plannedPut("replace", completeDocument(incoming, patched, draft.document), condition, guarded);
  const operation: Operation = { op: "patch", id: write.id, patch: write.steps, ...condition };
  return { operation, id: write.id, guarded, document: patched, item: undefined, status: 200 };
}

/** A stale etag is reported before any rule is evaluated. */
function requireMatch(write: Write, draft: Draft): void {
  const { ifMatch } = conditionOf(write);
  if (ifMatch === undefined || draft.item === undefined || ifMatch === draft.item.etag) return;
  throw unmet(`Item "${draft.item.id}" was changed concurrently; read it again.`, draft);
}

function unmet(detail: string, { item }: Draft): PinakesError {
  return new PinakesError("PRECONDITION_FAILED", detail, item === undefined ? {} : { currentEtag: item.etag });
}

function guardOf(
  write: Extract<Write, { ifMatch: string | undefined }>,
  { item }: Draft,
): readonly [{ ifMatch?: string }, boolean] {
  if (write.ifMatch !== undefined || item === undefined) return [conditionOf(write), false];
  return [{ ifMatch: item.etag }, true];
}

function conditionOf(write: Write): { ifMatch?: string } {
  return "ifMatch" in write && write.ifMatch !== undefined ? { ifMatch: write.ifMatch } : {};
}

function plannedPut(
  op: "create" | "upsert" | "replace",
  document: JsonObject,
  condition: { ifMatch?: string },
  guarded: boolean,
): PlannedWrite {
  const operation: Operation = op === "create" ? { op, document } : { op, document, ...condition };
  return {
    operation,
    id: document["id"] as string,
    guarded,
    document,
    item: undefined,
    status: op === "create" ? 201 : 200,
  };
}

function plainOperation(write: Exclude<Write, { document: JsonObject }>): Operation {
  const condition = conditionOf(write);
  switch (write.op) {
    case "patch":
      return { op: "patch", id: write.id, patch: write.steps, ...condition };
    case "delete":
      return { op: "delete", id: write.id, ...condition };
    case "read":
      return { op: "check", id: write.id };
    case "check":
      return { op: "check", id: write.id, exists: write.exists, ...condition };
  }
}
