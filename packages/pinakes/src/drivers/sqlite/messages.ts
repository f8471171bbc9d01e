/**
 * The messages between the threads. Many commits share one flat message. Binary keys are sent as one-byte strings: a cloned Buffer would
 * take its whole pool with it.
 */
import type { ContainerTtl } from "../../domain/ttl.ts";
import type { NormalDefinition } from "../../items/compiled-container.ts";
import type { Filter } from "../../domain/filter.ts";
import type { PatchStep } from "../../domain/patch.ts";
import { sendError as describeError, type SentError } from "../../runtime/sent-error.ts";
import { codeOf } from "./errors.ts";
import type {
  CommitOutcome,
  CommittedOperation,
  FeedRequest,
  ScanRange,
  ScanRequest,
  TenantFilter,
} from "../../items/item-engine.ts";
import type { CommitRequest, PreparedOperation } from "../../items/plan-batch.ts";
import type { PreparedDocument } from "../../items/prepare.ts";
import type { OpenContainerOptions } from "../../ports/item-store.ts";

export type WriterMessage =
  | { readonly kind: "commits"; readonly commits: readonly (readonly unknown[])[] }
  | {
      readonly kind: "open";
      readonly call: number;
      readonly definition: NormalDefinition;
      readonly options: OpenContainerOptions;
    }
  | {
      readonly kind: "trim";
      readonly call: number;
      readonly container: string;
      readonly before: number;
      readonly limit: number;
    }
  | {
      readonly kind: "forget";
      readonly call: number;
      readonly container: string;
      readonly tenant: string;
      /** pk and key of the id. */
      readonly keys: readonly (readonly [string, string])[];
      /** Examined up to this number of the feed. */
      readonly from: number;
    }
  | { readonly kind: "scrub"; readonly call: number }
  | { readonly kind: "close"; readonly call: number };

/** A bounded step through the feed, so that commits do not wait for all of it. */
export interface ForgottenStep {
  readonly forgotten: number;
  readonly next: number;
  readonly done: boolean;
}

export interface CommitMessage {
  readonly call: number;
  readonly container: string;
  readonly request: CommitRequest;
}

export type WriterReply =
  | {
      readonly kind: "committed";
      readonly plain: readonly number[];
      readonly outcomes: readonly { readonly call: number; readonly outcome: CommitOutcome }[];
    }
  | Reply;

/** `version` is that of the definition the request was planned with. */
export type ReaderMessage = { readonly call: number; readonly container: string; readonly version: number } & (
  | { readonly kind: "scan"; readonly request: ScanRequest; readonly ttl: ContainerTtl }
  | { readonly kind: "count"; readonly range: ScanRange; readonly now: number; readonly ttl: ContainerTtl }
  | { readonly kind: "changes"; readonly request: FeedRequest }
  | {
      readonly kind: "expired";
      readonly now: number;
      readonly limit: number;
      readonly ttl: ContainerTtl;
      readonly tenants: TenantFilter | undefined;
    }
);

export type Reply =
  | { readonly kind: "answer"; readonly call: number; readonly value: unknown }
  | { readonly kind: "error"; readonly call: number; readonly error: SentError };

export function sendError(error: unknown): SentError {
  return describeError(error, (cause) => ({ code: codeOf(cause), detail: `SQLite: ${cause.message}.` }));
}

/**
 * A commit as one flat list of strings and numbers: cloning a list costs a fraction of cloning objects, and there are tens of thousands a
 * second.
 */
export function encodeCommit({ call, container, request }: CommitMessage): unknown[] {
  const flat: unknown[] = [call, container, request.tenant, request.pk, request.now, request.operations.length];
  for (const operation of request.operations) {
    const { op, id, idKey, etag, ifMatch, where } = operation;
    flat.push(
      op,
      id,
      idKey === id ? null : idKey,
      etag,
      ifMatch ?? null,
      where === undefined ? null : JSON.stringify(where),
    );
    if ("prepared" in operation) encodePrepared(flat, operation.prepared);
    else if (op === "patch") flat.push(JSON.stringify(operation.patch));
    else if (op === "check") flat.push(operation.exists);
  }
  return flat;
}

function encodePrepared(flat: unknown[], { json, ttl, version, keys, uniques }: PreparedDocument): void {
  flat.push(json, ttl, version, keys.length);
  for (const key of keys)
    flat.push(key === null ? null : toText(key.partition), key === null ? null : toText(key.sort));
  flat.push(uniques.length, ...uniques);
}

export function decodeCommit(flat: readonly unknown[]): CommitMessage {
  const reader = new Reader(flat);
  const call = reader.next<number>();
  const container = reader.next<string>();
  const [tenant, pk, now, count] = [
    reader.next<string>(),
    reader.next<string>(),
    reader.next<number>(),
    reader.next<number>(),
  ];
  const operations: PreparedOperation[] = [];
  for (let i = 0; i < count; i += 1) operations.push(decodeOperation(reader));
  return { call, container, request: { tenant, pk, now, operations } };
}

function decodeOperation(reader: Reader): PreparedOperation {
  const op = reader.next<PreparedOperation["op"]>();
  const id = reader.next<string>();
  const idKey = reader.next<string | null>() ?? id;
  const etag = reader.next<string>();
  const ifMatch = reader.next<string | null>();
  const where = reader.next<string | null>();
  const guard = {
    id,
    idKey,
    etag,
    ...(ifMatch === null ? {} : { ifMatch }),
    ...(where === null ? {} : { where: JSON.parse(where) as Filter }),
  };
  switch (op) {
    case "create":
    case "replace":
    case "upsert":
      return { op, ...guard, prepared: decodePrepared(reader, id, idKey) };
    case "patch":
      return { op, ...guard, patch: JSON.parse(reader.next<string>()) as PatchStep[] };
    case "check":
      return { op, ...guard, exists: reader.next<boolean>() };
    case "delete":
    case "remove":
    case "purge":
      return { op, ...guard };
  }
}

function decodePrepared(reader: Reader, id: string, idKey: string): PreparedDocument {
  const [json, ttl, version] = [reader.next<string>(), reader.next<number | null>(), reader.next<number>()];
  const keys = Array.from({ length: reader.next<number>() }, () => {
    const [partition, sort] = [reader.next<string | null>(), reader.next<string | null>()];
    return partition === null || sort === null ? null : { partition: toBytes(partition), sort: toBytes(sort) };
  });
  const uniques = Array.from({ length: reader.next<number>() }, () => reader.next<string | null>());
  return { id, idKey, json, ttl, keys, uniques, version };
}

class Reader {
  readonly #flat: readonly unknown[];
  #at = 0;

  constructor(flat: readonly unknown[]) {
    this.#flat = flat;
  }

  next<T>(): T {
    const value = this.#flat[this.#at] as T;
    this.#at += 1;
    return value;
  }
}

const toText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
const toBytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

/** The usual answer of a commit is its call number alone, as both sides know the rest. */
export function plainResults({ operations }: CommitRequest): CommittedOperation[] {
  return operations.map(({ op, id, etag }) =>
    op === "create" || op === "replace" || op === "upsert" ? { id, etag } : { id },
  );
}

export function isPlain(request: CommitRequest, outcome: CommitOutcome): boolean {
  if (!outcome.ok) return false;
  const expected = plainResults(request);
  return outcome.results.every(({ etag, json }, i) => json === undefined && etag === expected[i]?.etag);
}
