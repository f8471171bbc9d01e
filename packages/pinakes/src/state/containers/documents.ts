/** Conversion of documents: validation and defaults before a write, and the view for readers. */
import { randomUUID } from "node:crypto";
import type { StoredDocument } from "@pinakes/client";
import { validateDocument } from "../../containers/validate.ts";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { parsePointer } from "../../domain/path.ts";
import type { PatchStep } from "../../domain/patch.ts";
import { withoutSystemProperties } from "../../domain/system-properties.ts";
import type { Item, Partition, PartitionValue } from "../../ports/item-store.ts";
import { companionField, reservedIdPrefix } from "../system-container.ts";
import { partitionIn, requirePartitionIn, type Target } from "./target.ts";

/** Prefix of internal top-level properties in system containers; readers do not see them. */
const ownFieldPrefix = "pinakes_";

export interface Incoming {
  readonly caller: Caller;
  readonly target: Target;
  readonly now: number;
  /** An upsert reads the item first, so that its status is 201 (created) or 200 (replaced). */
  readonly exactUpserts?: boolean | undefined;
}

/** The document as it will be stored: with an id, its workspace, and the defaults of its container. */
export function completeDocument(
  { caller, target, now }: Incoming,
  given: unknown,
  before: JsonObject | undefined,
): JsonObject {
  if (!isJsonObject(given)) throw invalid(`The document must be a JSON object, got ${show(given)}.`);
  const clean = withoutSystemProperties(given);
  requireFreeId(target, clean["id"]);
  if (clean[companionField] !== undefined) throw invalid(`${companionField}: is a system property; omit it.`);
  // The order of properties is preserved: clients compare requests and responses as text.
  const made = clean["id"] === undefined ? { id: randomUUID() } : {};
  const document: JsonObject = { ...made, ...clean, ...workspaceOf(caller, clean) };
  const { system } = target;
  if (system === undefined) return document;
  // A feature with a prepare step validates the schema after defaults are set.
  if (system.prepare !== undefined) return system.prepare({ caller, before, document, now });
  return system.schema === null ? document : validateDocument(target.name, system.schema, document);
}

/** A write with the partition of its document, including defaults of its container. */
export function placedIn<Given extends { readonly document: JsonObject }>(
  incoming: Incoming,
  write: Given,
): { readonly write: Given; readonly partition: Partition } {
  const { target } = incoming;
  if (target.system?.prepare === undefined || partitionIn(target, write.document) !== undefined)
    return { write, partition: requirePartitionIn(target, write.document) };
  const partition = requirePartitionIn(target, completeDocument(incoming, write.document, undefined));
  // Stored with the document: generated defaults would differ the next time.
  const filled = Object.fromEntries(
    target.definition.partitionKey.map((path, i) => [path, partition[i] as PartitionValue]),
  );
  return { write: { ...write, document: { ...write.document, ...filled } }, partition };
}

/** Containers of Cosmos DB's clients hold no system items, so any id is allowed there. */
export function requireFreeId({ definition }: Target, id: unknown): void {
  if (definition.optionalKey !== true && typeof id === "string" && id.startsWith(reservedIdPrefix))
    throw invalid(`id: ids that start with "${reservedIdPrefix}" are reserved, got ${show(id)}; choose another.`);
}

/** Every written document has its workspace_id; older documents of any schema may lack it. */
function workspaceOf({ scope: { tenant } }: Caller, document: JsonObject): JsonObject {
  const workspace = document["workspace_id"];
  if (workspace !== undefined) requireWorkspace(tenant, workspace);
  return workspace === undefined ? { workspace_id: tenant } : {};
}

function requireWorkspace(tenant: string, workspace: unknown): void {
  if (workspace !== tenant)
    throw new PinakesError(
      "FORBIDDEN",
      `workspace_id: must be your own workspace ("${tenant}") or omitted, got ${show(workspace)}.`,
    );
}

/** Properties that a patch must not change, if the patched document is not validated again. */
export function checkPatchPaths({ caller, target }: Incoming, steps: readonly PatchStep[]): void {
  for (const step of steps) {
    const paths = step.op === "move" ? [step.path, step.from] : [step.path];
    for (const path of paths) {
      const [first, ...rest] = parsePointer(path);
      const ours = target.system === undefined ? first === companionField : first?.startsWith(ownFieldPrefix) === true;
      if (ours) throw invalid(`patch: "${first}" is a system property and cannot be patched.`);
      if (first !== "workspace_id") continue;
      const sets = (step.op === "set" || step.op === "add" || step.op === "replace") && rest.length === 0;
      requireWorkspace(caller.scope.tenant, sets ? step.value : null);
    }
  }
}

export function isCompanion({ document }: Pick<Item, "document">): boolean {
  return document[companionField] !== undefined;
}

export function visible(target: Target, document: JsonObject): JsonObject {
  if (target.system === undefined || !Object.keys(document).some((name) => name.startsWith(ownFieldPrefix)))
    return document;
  return Object.fromEntries(Object.entries(document).filter(([name]) => !name.startsWith(ownFieldPrefix)));
}

export function storedView(
  target: Target,
  { document, etag, modifiedAt }: Pick<Item, "document" | "etag" | "modifiedAt">,
): StoredDocument {
  return { ...visible(target, document), _etag: etag, _ts: Math.floor(modifiedAt / 1000) } as unknown as StoredDocument;
}

export function noItem(target: Target, id: string): PinakesError {
  return new PinakesError(
    "NOT_FOUND",
    `There is no item ${show(id)} in container "${target.name}" with this partition key.`,
  );
}
