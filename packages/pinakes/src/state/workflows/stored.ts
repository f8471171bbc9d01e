/** A document with system fields. */
import type { Stored, Workflow } from "@pinakes/client";
import type { JsonObject } from "../../domain/json.ts";
import type { OperationResult, RawItem } from "../../ports/item-store.ts";

export interface Version {
  readonly etag: string;
  readonly modifiedAt: number;
}

export function stored(document: JsonObject, { etag, modifiedAt }: Version): Stored<Workflow> {
  return { ...document, _etag: etag, _ts: Math.floor(modifiedAt / 1_000) } as unknown as Stored<Workflow>;
}

/** The same as text. A document has an id, so a property precedes the comma. */
export function storedText({ bytes, etag, modifiedAt }: RawItem): Uint8Array<ArrayBuffer> {
  const system = `,"_etag":${JSON.stringify(etag)},"_ts":${Math.floor(modifiedAt / 1_000)}}`;
  return Buffer.concat([bytes.subarray(0, -1), Buffer.from(system, "utf8")]);
}

/** From a write operation. */
export function versionOf(result: OperationResult | undefined): Version {
  return result as Version;
}
