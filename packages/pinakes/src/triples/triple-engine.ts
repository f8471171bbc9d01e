/**
 * What differs between engines: each implements this, and create-triple-store.ts makes a `TripleStore` of it.
 *
 * An engine is given what was checked: a real tenant, a space's name, terms in their canonical text, limits within their bounds. Every
 * method that changes something is one transaction, in which it looks at the status of the space first (space-errors.ts).
 *
 * Reads of a space that was never opened find nothing; of one that is fenced or purged they throw. Only `usage` and `spaces` look at any.
 */
import type { Quad, TermText } from "../domain/rdf.ts";
import type {
  QuadChanges,
  QuadPattern,
  SpaceInfo,
  SpaceUsage,
  Support,
  TripleStoreCapabilities,
} from "../ports/triple-store.ts";

export interface TripleEngine {
  readonly capabilities: TripleStoreCapabilities;
  /** Quads that one `write` takes, where that is more than one transaction of the engine changes. Absent: `atomicQuadsMax`. */
  readonly writeQuadsMax?: number;

  open(space: SpaceKey): Promise<void>;
  /** At most `writeQuadsMax` quads, in one transaction up to `capabilities.atomicQuadsMax` of them. Removes first, then inserts. */
  write(space: SpaceKey, change: PreparedChange): Promise<QuadChanges>;
  /** Takes away up to `limit` support rows of a source, and the quads that were left without any. */
  removeSource(
    space: SpaceKey,
    source: string,
    limit: number,
  ): Promise<{ readonly removed: number; readonly done: boolean }>;
  match(space: SpaceKey, request: MatchRequest): Promise<MatchResult> | MatchResult;
  count(space: SpaceKey, pattern: QuadPattern, max: number | undefined): Promise<number>;
  /** In any order; at most `limit` for each quad. */
  supports(space: SpaceKey, quads: readonly Quad[], limit: number): Promise<readonly (readonly Support[])[]>;
  /** Whether each quad is there without needing its supports. */
  asserted(space: SpaceKey, quads: readonly Quad[]): Promise<readonly boolean[]>;
  /** False only for a term that no quad of the space uses. */
  mayUse(space: SpaceKey, terms: readonly TermText[]): Promise<readonly boolean[]>;
  /** Supports of a source behind a place, those of one quad next to each other; at most `limit` are looked at. */
  ofSource(space: SpaceKey, request: SourceRequest): Promise<SourceResult>;
  graphs(
    space: SpaceKey,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly graphs: readonly TermText[]; readonly next?: string | undefined }>;
  usage(space: SpaceKey): Promise<SpaceUsage>;

  /** Names greater than `after`, in the order of their characters' codes. */
  spaces(
    tenant: string,
    after: string,
    limit: number,
  ): Promise<{ readonly spaces: readonly SpaceInfo[]; readonly done: boolean }>;
  /** Also of one that never was: it is then registered, fenced. One that was purged stays so. */
  fence(space: SpaceKey): Promise<void>;
  unfence(space: SpaceKey): Promise<void>;
  /** Marks the space as purged, whatever it was, and removes up to `limit` quads, supports and terms. */
  purge(space: SpaceKey, limit: number): Promise<{ readonly deleted: number; readonly done: boolean }>;

  close(): Promise<void>;
}

export interface SpaceKey {
  readonly tenant: string;
  readonly space: string;
}

/** A change with each of its terms once. */
export interface PreparedChange {
  /** Distinct. The first is `defaultGraph`, and no other is empty. */
  readonly terms: readonly TermText[];
  /** Four places in `terms` for each quad: s, p, o, g. A quad may be there twice. */
  readonly insert: Uint32Array;
  readonly remove: Uint32Array;
  readonly source: Support | undefined;
}

export interface MatchRequest {
  readonly pattern: QuadPattern;
  /** A place that the engine told as `next` for a pattern of the same shape; anything else throws `badCursor()`. */
  readonly after: string | undefined;
  readonly limit: number;
  /** The page ends early, but never empty, when its terms hold so many characters. */
  readonly charsMax: number;
}

export interface SourceRequest {
  readonly source: string;
  /** A place that the engine told; anything else throws `badCursor()`. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface SourceResult {
  /** Without those whose quad went between two reads of one call. */
  readonly rows: readonly SourceRow[];
  /** Behind the last that was looked at; absent at the end. */
  readonly next: string | undefined;
  readonly examined: number;
}

export interface SourceRow {
  readonly quad: Quad;
  readonly part: number;
  /** Behind it. A place among the supports of this source only, so it cannot lead to those of another. */
  readonly place: string;
}

export interface MatchResult {
  readonly quads: readonly Quad[];
  /** Where the next page begins; absent at the end. */
  readonly next: string | undefined;
  readonly examined: number;
}
