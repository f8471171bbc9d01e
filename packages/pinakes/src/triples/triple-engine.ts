/**
 * The part that differs between engines: each implements this, and create-triple-store.ts turns it into a `TripleStore`.
 *
 * An engine receives validated input: a real tenant, a space's name, terms in their canonical text, limits within their bounds. Every
 * method that changes something is one transaction, which checks the status of the space first (space-errors.ts).
 *
 * Reads of a space that was never opened find nothing; of a fenced or purged one they throw. Only `usage` and `spaces` work on any.
 */
import type { Quad, TermText } from "../domain/rdf.ts";
import type { ScrubReport } from "../ports/item-erasure.ts";
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
  /** Quads that one `write` accepts, if more than one transaction of the engine changes. Defaults to `atomicQuadsMax`. */
  readonly writeQuadsMax?: number;

  open(space: SpaceKey): Promise<void>;
  /** At most `writeQuadsMax` quads, in one transaction up to `capabilities.atomicQuadsMax` of them. Removes first, then inserts. */
  write(space: SpaceKey, change: PreparedChange): Promise<QuadChanges>;
  /** Removes up to `limit` support rows of a source, and the quads that have none left. */
  removeSource(
    space: SpaceKey,
    source: string,
    limit: number,
  ): Promise<{ readonly removed: number; readonly done: boolean }>;
  match(space: SpaceKey, request: MatchRequest): Promise<MatchResult> | MatchResult;
  count(space: SpaceKey, pattern: QuadPattern, max: number | undefined): Promise<number>;
  /** In any order; at most `limit` for each quad. */
  supports(space: SpaceKey, quads: readonly Quad[], limit: number): Promise<readonly (readonly Support[])[]>;
  /** Whether each quad exists without needing its supports. */
  asserted(space: SpaceKey, quads: readonly Quad[]): Promise<readonly boolean[]>;
  /** False only for a term that no quad of the space uses. */
  mayUse(space: SpaceKey, terms: readonly TermText[]): Promise<readonly boolean[]>;
  /** Supports of a source after a position, those of one quad next to each other; examines at most `limit`. */
  ofSource(space: SpaceKey, request: SourceRequest): Promise<SourceResult>;
  graphs(
    space: SpaceKey,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly graphs: readonly TermText[]; readonly next?: string | undefined }>;
  usage(space: SpaceKey): Promise<SpaceUsage>;

  /** Names greater than `after`, ordered by code unit. */
  spaces(
    tenant: string,
    after: string,
    limit: number,
  ): Promise<{ readonly spaces: readonly SpaceInfo[]; readonly done: boolean }>;
  /** Also for a space that never existed: it is registered as fenced. A purged one stays purged. */
  fence(space: SpaceKey): Promise<void>;
  unfence(space: SpaceKey): Promise<void>;
  /** Marks the space as purged, whatever its status, and removes up to `limit` quads, supports and terms. */
  purge(space: SpaceKey, limit: number): Promise<{ readonly deleted: number; readonly done: boolean }>;

  scrub(): Promise<ScrubReport>;
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
  /** Four indexes into `terms` for each quad: s, p, o, g. A quad may occur twice. */
  readonly insert: Uint32Array;
  readonly remove: Uint32Array;
  readonly source: Support | undefined;
}

export interface MatchRequest {
  readonly pattern: QuadPattern;
  /** A position that the engine returned as `next` for a pattern of the same shape; anything else throws `badCursor()`. */
  readonly after: string | undefined;
  readonly limit: number;
  /** The page ends early, but never empty, once its terms have this many characters. */
  readonly charsMax: number;
}

export interface SourceRequest {
  readonly source: string;
  /** A position that the engine returned; anything else throws `badCursor()`. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface SourceResult {
  /** Without those whose quad was removed between two reads of the call. */
  readonly rows: readonly SourceRow[];
  /** After the last examined one; absent at the end. */
  readonly next: string | undefined;
  readonly examined: number;
}

export interface SourceRow {
  readonly quad: Quad;
  readonly part: number;
  /** The position after it. It is valid only among the supports of this source, so it cannot lead to those of another. */
  readonly place: string;
}

export interface MatchResult {
  readonly quads: readonly Quad[];
  /** Start of the next page; absent at the end. */
  readonly next: string | undefined;
  readonly examined: number;
}
