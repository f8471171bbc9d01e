/** Validates the form of a caller's operations, for single writes, batches and bulk loads. */
import type { PartitionKey } from "@pinakes/client";
import { inBatch, invalid, PinakesError, show } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { limits } from "../../domain/limits.ts";
import { checkPatch, type PatchStep } from "../../domain/patch.ts";
import { compileExpression, parseQuery } from "../../sql/index.ts";
import { requireFreeId } from "./documents.ts";
import type { Target } from "./target.ts";

export type Write =
  | { readonly op: "create"; readonly document: JsonObject }
  | { readonly op: "upsert" | "replace"; readonly document: JsonObject; readonly ifMatch: string | undefined }
  | {
      readonly op: "patch";
      readonly id: string;
      readonly steps: readonly PatchStep[];
      readonly ifMatch: string | undefined;
      readonly condition?: Condition | undefined;
    }
  | { readonly op: "delete"; readonly id: string; readonly ifMatch: string | undefined }
  | { readonly op: "read"; readonly id: string }
  | { readonly op: "check"; readonly id: string; readonly exists: boolean; readonly ifMatch: string | undefined };

const operationNames = "create, upsert, replace, patch, delete, read or check";

export function parseWrite(target: Target, given: unknown, now: number): Write {
  if (!isJsonObject(given))
    throw invalid(
      `An operation is an object with op, such as { "op": "create", "document": {…} }; got ${show(given)}.`,
    );
  const { op, document, id } = given;
  const ifMatch = etagOf(given["if_match"]);
  switch (op) {
    case "create":
      if (ifMatch !== undefined) throw invalid("create: takes no if_match; it succeeds only if the item is absent.");
      return { op, document: documentOf(op, document) };
    case "upsert":
    case "replace":
      if (op === "replace" && isJsonObject(document)) idOf(document["id"]);
      return appending(target, { op, document: documentOf(op, document), ifMatch });
    case "patch": {
      const steps: unknown = given["operations"];
      checkPatch(steps);
      const { condition } = given;
      const when = condition === undefined ? {} : { condition: parseCondition(condition, now) };
      return appending(target, { op, id: writableId(target, id), steps, ifMatch, ...when });
    }
    case "delete":
      return appending(target, { op, id: writableId(target, id), ifMatch });
    case "read":
      return { op, id: idOf(id) };
    case "check": {
      const exists = given["exists"] ?? true;
      if (typeof exists !== "boolean") throw invalid("check: exists must be true or false.");
      return { op, id: writableId(target, id), exists, ifMatch };
    }
    default:
      throw invalid(`op: must be ${operationNames}, got ${show(op)}.`);
  }
}

/** Whether this changes an existing item, which some containers never allow. */
function appending(target: Target, write: Write): Write {
  const reason = target.system?.appendOnly;
  if (reason !== undefined) throw new PinakesError("CONFLICT", reason);
  return write;
}

export function requireChangeable({ system }: Target): void {
  if (system?.appendOnly !== undefined) throw new PinakesError("CONFLICT", system.appendOnly);
}

function etagOf(value: unknown): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw invalid(`if_match: must be an etag, got ${show(value)}.`);
}

function documentOf(op: string, document: unknown): JsonObject {
  if (isJsonObject(document)) return document;
  throw invalid(`${op}: the document must be a JSON object, got ${show(document)}.`);
}

function idOf(id: unknown): string {
  if (typeof id === "string" && id !== "") return id;
  throw invalid(`id: must be a string that is not empty, got ${show(id)}.`);
}

function writableId(target: Target, id: unknown): string {
  requireFreeId(target, id);
  return idOf(id);
}

export function idOfWrite(write: Write): string | undefined {
  if (!("document" in write)) return write.id;
  const { id } = write.document;
  return typeof id === "string" ? id : undefined;
}

/** `pk` of an operation of a bulk load, which may target any partition. */
export function pkOf(given: unknown): PartitionKey | undefined {
  return isJsonObject(given) ? (given["pk"] as PartitionKey | undefined) : undefined;
}

/** The operations of a batch; an error names the index of the operation. */
export function parseBatch(target: Target, operations: unknown, now: number): readonly Write[] {
  if (!Array.isArray(operations) || operations.length === 0)
    throw invalid("operations: must be a list of at least one operation.");
  if (operations.length > limits.batchOperationsMax) {
    throw new PinakesError(
      "LIMIT_EXCEEDED",
      `The batch has ${operations.length} operations; at most ${limits.batchOperationsMax} are allowed. Split it where it need not be atomic.`,
    );
  }
  return operations.map((operation: unknown, i) => {
    try {
      return parseWrite(target, operation, now);
    } catch (error) {
      throw PinakesError.isInstance(error) ? inBatch(error, i, operations.length) : error;
    }
  });
}

// The condition of a patch, as Cosmos DB writes it: `from c where c.status = "open"`.

/** Evaluates the stored document. */
type Condition = (document: JsonObject) => boolean;

const select = "SELECT * ";

function parseCondition(text: unknown, now: number): Condition {
  if (typeof text !== "string" || !/^\s*from\s/i.test(text))
    throw invalid(`condition: write it as from c where c.status = "open"; got ${show(text)}.`);
  const { where, joins, orderBy, groupBy, offset } = parseQuery(`${select}${text}`);
  if (where === undefined) throw invalid('condition: says nothing; write it as from c where c.status = "open".');
  if (joins.length + orderBy.length + groupBy.length > 0 || offset !== undefined)
    throw invalid(
      "condition: applies to one document; only WHERE may follow, without JOIN, GROUP BY, ORDER BY and OFFSET.",
    );
  return (document) => {
    const context = { parameters: new Map<string, never>(), now, expanded: { rows: 0 } };
    return compileExpression(where, context)([document]) === true;
  };
}
