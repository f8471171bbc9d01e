/** Messages between the pool and its threads. Both sides send lists, so that everything of one turn costs one message. */
import type { Filter } from "../../domain/filter.ts";
import type { SentError } from "../../runtime/sent-error.ts";
import type { LoadedSegment } from "../segment/load-segment.ts";
import type { TermCounts } from "../text/statistics.ts";

export type Order =
  | { readonly kind: "load"; readonly id: string; readonly loaded: LoadedSegment }
  | { readonly kind: "drop"; readonly id: string }
  /** The rows of a segment that later searches with `dead` exclude. Sent once, so that a search need not carry it. */
  | { readonly kind: "dead"; readonly id: string; readonly rows: number; readonly words: Uint32Array }
  | { readonly kind: "search"; readonly call: number; readonly task: SearchTask };

export interface SearchTask {
  readonly sources: readonly TaskSource[];
  readonly vector?: Float32Array | undefined;
  readonly text?: string | undefined;
  readonly k: number;
  readonly recall?: number | undefined;
  readonly filter?: Filter | undefined;
  /** Rows of other collections that contribute to the weights of the words of `text`. */
  readonly elsewhere?: TermCounts | undefined;
  /** A text whose words are only counted. */
  readonly counted?: string | undefined;
}

export interface TaskSource {
  readonly id: string;
  /** The index of the source in the request. */
  readonly number: number;
  readonly dead: boolean;
  readonly lists?: Uint32Array | undefined;
}

/** Hits as source, row, score, source, row, score, …: far cheaper to send than objects. */
export type FlatHits = readonly number[];

/** The requested results of a task. */
export interface TaskInput {
  readonly vector?: FlatHits | undefined;
  readonly text?: FlatHits | undefined;
  readonly counts?: TermCounts | undefined;
}

export type Answer = ({ readonly call: number } & TaskInput) | { readonly call: number; readonly error: SentError };
