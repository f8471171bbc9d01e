/** Validates a caller's operations and prepares them for an engine, before anything is sent to it. */
import { randomFillSync, randomUUID } from "node:crypto";
import { PinakesError, inBatch, invalid, show } from "../domain/errors.ts";
import { compileFilter } from "../domain/filter.ts";
import { isJsonObject, utf8Bytes } from "../domain/json.ts";
import { limits } from "../domain/limits.ts";
import { checkPatch, plainPatch } from "../domain/patch.ts";
import type { Operation } from "../ports/item-store.ts";
import type { CompiledContainer } from "./compiled-container.ts";
import { checkId, idKeyOf } from "./id-key.ts";
import type { PreparedOperation } from "./plan-batch.ts";
import { prepareDocument } from "./prepare.ts";

const etagBytes = 15;

export class Operations {
  readonly #operationsMax: number;
  // Random bytes for many etags at once: requesting them one by one would cost more than the etag.
  readonly #random = Buffer.alloc(etagBytes * 256);
  #used = this.#random.length;

  constructor(operationsMax: number) {
    this.#operationsMax = Math.min(operationsMax, limits.batchOperationsMax);
  }

  /** 120 random bits: never repeated, and they reveal nothing. A counter would tell tenants of each other's writes. */
  nextEtag(): string {
    if (this.#used === this.#random.length) {
      randomFillSync(this.#random);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += etagBytes;
    return this.#random.toString("base64url", start, this.#used);
  }

  prepare(
    container: CompiledContainer,
    tenant: string,
    pk: string,
    operations: readonly Operation[],
    asBatch: boolean,
  ): PreparedOperation[] {
    if (!Array.isArray(operations) || operations.length === 0) throw invalid("A batch needs at least one operation.");
    if (operations.length > this.#operationsMax) {
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `The batch has ${operations.length} operations; at most ${this.#operationsMax} are allowed here. Split it where it need not be atomic.`,
      );
    }
    const etags = new Map<string, string>();
    const prepared = operations.map((operation: Operation, i) => {
      try {
        return this.#prepareOne(container, tenant, pk, operation, etags);
      } catch (error) {
        throw asBatch && PinakesError.isInstance(error) ? inBatch(error, i, operations.length) : error;
      }
    });
    if (prepared.length > 1) requireBatchBytes(prepared);
    return prepared;
  }

  #prepareOne(
    container: CompiledContainer,
    tenant: string,
    pk: string,
    operation: Operation,
    etags: Map<string, string>,
  ): PreparedOperation {
    const given: unknown = operation;
    if (!isJsonObject(given)) throw invalid("An operation must be an object with `op`.");
    const conditions = checkConditions(operation);
    switch (operation.op) {
      case "create":
      case "replace":
      case "upsert": {
        if (!isJsonObject(operation.document))
          throw invalid(`${operation.op}: the document must be a JSON object, got ${describe(operation.document)}.`);
        const { id, ...rest } = operation.document;
        const document =
          operation.op === "create" && id === undefined ? { id: randomUUID(), ...rest } : operation.document;
        const prepared = prepareDocument(container, tenant, pk, document);
        return {
          op: operation.op,
          id: prepared.id,
          idKey: prepared.idKey,
          etag: this.#etagFor(prepared.idKey, etags),
          prepared,
          ...conditions,
        };
      }
      case "patch":
        checkPatch(operation.patch);
        return { op: "patch", ...this.#target(operation.id, etags), patch: plainPatch(operation.patch), ...conditions };
      case "delete":
        return { op: "delete", ...this.#target(operation.id, etags), ...conditions };
      case "check":
        if (operation.exists !== undefined && typeof operation.exists !== "boolean")
          throw invalid("check: exists must be true or false.");
        return { op: "check", ...this.#target(operation.id, etags), exists: operation.exists ?? true, ...conditions };
      default:
        throw invalid(
          `op: must be create, replace, upsert, patch, delete or check, got ${show((operation as { op: unknown }).op)}.`,
        );
    }
  }

  #target(id: string, etags: Map<string, string>): { id: string; idKey: string; etag: string } {
    const idKey = idKeyOf(checkId(id));
    return { id, idKey, etag: this.#etagFor(idKey, etags) };
  }

  /** Operations on one item are folded into one write, which has one etag. */
  #etagFor(idKey: string, etags: Map<string, string>): string {
    let etag = etags.get(idKey);
    if (etag === undefined) etags.set(idKey, (etag = this.nextEtag()));
    return etag;
  }
}

function checkConditions(operation: Operation): {
  ifMatch?: string;
  where?: NonNullable<Extract<Operation, { op: "delete" }>["where"]>;
} {
  const { ifMatch, where } = operation as { ifMatch?: unknown; where?: unknown };
  if (ifMatch !== undefined && (typeof ifMatch !== "string" || ifMatch === ""))
    throw invalid("ifMatch: must be an etag.");
  if (where !== undefined) compileFilter(where, "where");
  if (operation.op === "create" && (ifMatch !== undefined || where !== undefined))
    throw invalid("create: takes no condition; it succeeds only if the item is absent.");
  return { ...(ifMatch === undefined ? {} : { ifMatch }), ...(where === undefined ? {} : { where: where as never }) };
}

function requireBatchBytes(operations: readonly PreparedOperation[]): void {
  const bytes = operations.reduce((sum, operation) => {
    if ("prepared" in operation) return sum + utf8Bytes(operation.prepared.json);
    return sum + ("patch" in operation ? utf8Bytes(JSON.stringify(operation.patch)) : 0);
  }, 0);
  if (bytes <= limits.batchBytesMax) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `The batch has ${bytes} bytes; at most ${limits.batchBytesMax} are allowed. Split it where it need not be atomic.`,
  );
}

function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
