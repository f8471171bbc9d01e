/**
 * TripleStore: quads in spaces, every pattern answered from an index.
 *
 * Scope. The first argument of every method; a call without one throws. A space belongs to its tenant: the same name under another scope
 * is another space, and it answers exactly as one that was never opened.
 *
 * Space. One incarnation of a collection, named by an opaque id. `open` registers it; a write to an unregistered space is NOT_FOUND, and
 * to a fenced or purged one CONFLICT: the check is in the transaction of the write, so no late message resurrects anything. The name of a
 * purged space stays rejected. All spaces share the same tables.
 *
 * Quads. Terms are texts (domain/rdf.ts); another way to write the same term (a language in capitals, xsd:string) means the same. A space
 * is a set: inserting an existing quad changes nothing, and each call returns what it changed. A write removes first, then inserts.
 *
 * Support. A quad inserted with a `source` stays as long as one of its sources does; one inserted without is asserted, and stays until it is
 * removed. It may be both: code that copies quads must read `asserted` as well as `supports`, or the copy disappears with its sources.
 * `removeSource` removes a source and the quads that it alone supported. `remove` removes a quad whatever supports it. Terms that no quad
 * uses any more are removed with the last of them.
 *
 * Reads. Strong: they see every acknowledged write, unless `capabilities.reads` is "eventual". A match runs in the order of one index; it
 * examines at most one row for each row it returns, plus a constant. Its cursor is a position in that order: concurrent writes never make
 * an unchanged quad be skipped or repeated. It is bound only to what the pattern binds; features sign what they give to clients. A space
 * that was never opened is empty; a fenced or purged one is CONFLICT, so that no answer ends silently in the middle. `usage` and `spaces`
 * work on any: what waits for its purge is counted too.
 *
 * Ends. `fence` stops writes and reads at once, also of a space that was not opened yet; `unfence` undoes it, all bytes as they were.
 * `purge` needs no fence before it: from its first step on the space is "purged" for ever; it removes in bounded steps, is idempotent, and
 * reads of other spaces continue meanwhile.
 */
import type { Quad, TermText } from "../domain/rdf.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import type { ScrubReport } from "./item-erasure.ts";

export interface TripleStore {
  readonly capabilities: TripleStoreCapabilities;

  /** Registers a space; idempotent. CONFLICT if it is fenced or purged. */
  open(scope: Scope, space: string): Promise<void>;
  /**
   * One transaction up to `capabilities.atomicQuadsMax`; more quads than that are LIMIT_EXCEEDED with `atomic`, several transactions
   * otherwise.
   */
  write(scope: Scope, space: string, change: QuadChange): Promise<QuadChanges>;
  /** Removes a source, and the quads that it alone supported, in bounded steps. */
  removeSource(scope: Scope, space: string, source: string): Promise<QuadChanges>;
  match(scope: Scope, space: string, pattern: QuadPattern, options?: MatchOptions): Promise<QuadPage>;
  /** Exact. With `max` it may stop counting there: the answer is then `max`, and means "at least". */
  count(scope: Scope, space: string, pattern: QuadPattern, options?: { readonly max?: number }): Promise<number>;
  /**
   * The supports of each quad, in the order of source and part; an empty list for a quad that is only asserted or absent. At most 1,000
   * each.
   */
  supports(scope: Scope, space: string, quads: readonly Quad[]): Promise<readonly (readonly Support[])[]>;
  /** Whether each quad exists and was inserted without a source, so it would stay without its supports. At most 1,000 quads. */
  asserted(scope: Scope, space: string, quads: readonly Quad[]): Promise<readonly boolean[]>;
  /**
   * Whether each term may occur in a quad of the space, cheaply: false is certain. It eliminates most of many questions before each is
   * asked. An engine that keeps no terms answers true. At most 1,000 terms.
   */
  mayUse(scope: Scope, space: string, terms: readonly TermText[]): Promise<readonly boolean[]>;
  /**
   * The quads that a source supports, each once with its parts, from the index of supports by source: it examines as many supports as it
   * returns, plus a constant. Strong on every engine. One page has at most 10,000 supports: a quad with more parts continues on the next
   * page.
   */
  ofSource(scope: Scope, space: string, source: string, options?: MatchOptions): Promise<SourcePage>;
  /** The graph names of a space, in pages; without the default graph. */
  graphs(
    scope: Scope,
    space: string,
    options?: { readonly limit?: number; readonly cursor?: string | undefined },
  ): Promise<{ readonly graphs: readonly TermText[]; readonly cursor?: string | undefined }>;
  usage(scope: Scope, space: string): Promise<SpaceUsage>;

  /** Of this tenant, fenced and purged ones included, ordered by name. */
  spaces(
    scope: Scope,
    options?: { readonly limit?: number; readonly cursor?: string | undefined },
  ): Promise<{ readonly spaces: readonly SpaceInfo[]; readonly cursor?: string | undefined }>;
  fence(scope: Scope, space: string): Promise<void>;
  unfence(scope: Scope, space: string): Promise<void>;
  /**
   * Removes up to `limit` rows of what `usage` counts, and returns how many; call again until `done`. A space that never existed is purged
   * at once: its name is rejected from then on.
   */
  purge(
    scope: Scope,
    space: string,
    options?: { readonly limit?: number },
  ): Promise<{ readonly deleted: number; readonly done: boolean }>;

  /** Rewrites the engine's files without what was removed, as `ItemErasure.scrub` does. */
  scrub(scope: SystemScope): Promise<ScrubReport>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface TripleStoreCapabilities {
  readonly engine: string;
  readonly reads: "strong" | "eventual";
  /** Quads that one `write` changes in one transaction. */
  readonly atomicQuadsMax: number;
  readonly durable: boolean;
}

export interface QuadChange {
  readonly insert?: readonly Quad[];
  readonly remove?: readonly Quad[];
  /** For all inserted quads. */
  readonly source?: Support;
  /** Reject what cannot be done in one transaction. */
  readonly atomic?: boolean;
}

/** Where a quad was found: a document's run, and which of its chunks. */
export interface Support {
  readonly source: string;
  readonly part: number;
}

export interface QuadChanges {
  readonly inserted: number;
  readonly removed: number;
}

/** Absent positions match anything. Without `g` all graphs match; `defaultGraph` matches the unnamed one. */
export interface QuadPattern {
  readonly s?: TermText | undefined;
  readonly p?: TermText | undefined;
  readonly o?: TermText | undefined;
  readonly g?: TermText | undefined;
}

export interface MatchOptions {
  /** At most 10,000; default 1,000. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface QuadPage {
  readonly quads: readonly Quad[];
  /** Absent at the end. */
  readonly cursor?: string | undefined;
  /** Rows examined for this page. */
  readonly examined: number;
}

export interface SourcePage {
  readonly quads: readonly SupportedQuad[];
  /** Absent at the end. A position among what this source supports. */
  readonly cursor?: string | undefined;
  /** Supports examined for this page. */
  readonly examined: number;
}

export interface SupportedQuad {
  readonly quad: Quad;
  /** Ascending. */
  readonly parts: readonly number[];
}

export interface SpaceUsage {
  readonly quads: number;
  /** One per quad, source and part. */
  readonly supports: number;
  /** Distinct terms in use, graph names included. */
  readonly terms: number;
}

export interface SpaceInfo {
  readonly space: string;
  readonly status: "open" | "fenced" | "purged";
}
