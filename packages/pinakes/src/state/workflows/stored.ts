/** A document with what the store adds to it. */
import type { Stored, Workflow } from "@pinakes/client";
import type { JsonObject } from "../../domain/json.ts";
import type { OperationResult } from "../../ports/item-store.ts";

export interface Version {
  readonly etag: string;
  readonly modifiedAt: number;
}

export function stored(document: JsonObject, { etag, modifiedAt }: Version): Stored<Workflow> {
  return { ...document, _etag: etag, _ts: Math.floor(modifiedAt / 1_000) } as unknown as Stored<Workflow>;
}

/** Of an operation that wrote. */
export function versionOf(result: OperationResult | undefined): Version {
  return result as Version;
}
