/** Messages to the threads of the triples file. Responses are those of the item threads (../messages.ts). */
import type { QuadPattern } from "../../../ports/triple-store.ts";
import type { PreparedChange, SpaceKey } from "../../../triples/triple-engine.ts";

export type WriteRequest = { readonly call: number; readonly key: SpaceKey } & (
  | { readonly kind: "open" | "fence" | "unfence" }
  | { readonly kind: "write"; readonly change: PreparedChange }
  | { readonly kind: "removeSource"; readonly source: string; readonly limit: number }
  | { readonly kind: "purge"; readonly limit: number }
);

export interface CountRequest {
  readonly kind: "count";
  readonly call: number;
  readonly key: SpaceKey;
  readonly pattern: QuadPattern;
  readonly max: number | undefined;
}

export interface ScrubRequest {
  readonly kind: "scrub";
  readonly call: number;
}

export interface CloseRequest {
  readonly kind: "close";
  readonly call: number;
}
