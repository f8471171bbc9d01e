/** One row as callers give it and as a merge passes it on. */
import type { VectorMetric as Metric } from "@pinakes/client";
import type { JsonObject } from "../domain/json.ts";

export type { Metric };
/** The numbers are those of the file. */
export const opCodes = Object.freeze({ put: 0, delete: 1, patch: 2 });
export type Op = keyof typeof opCodes;

export interface Row {
  readonly id: string;
  readonly op: Op;
  /** As given by the caller, not normalised; present for a put. */
  readonly vector?: Float32Array;
  readonly text?: string;
  /** A put: the row's metadata. A patch: the changes; null clears a key. */
  readonly metadata?: JsonObject;
}

/** A row as read from a file. */
export interface Put extends Row {
  readonly op: "put";
  readonly vector: Float32Array;
  readonly metadata: JsonObject;
}
