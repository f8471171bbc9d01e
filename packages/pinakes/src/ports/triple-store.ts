/**
 * TripleStore: quads in spaces, every pattern answered from an index.
 *
 * Scope. The first argument of every method; a call without one throws. A space belongs to its tenant: the same name under another scope
 * is another space, and it answers exactly as one that was never opened.
 *
 * Space. One life of a collection (its incarnation), named by an opaque id. `open` registers it; a write to one that is not registered is
 * NOT_FOUND, and to one that is fenced or was purged CONFLICT: the check is in the transaction of the write, so no late message brings
 * anything back. A name that was purged stays refused. All spaces share the same tables.
 *
 * Quads. Terms are texts (domain/rdf.ts); another way to write the same term (a language in capitals, xsd:string) means the same. A space
 * is a set: inserting what is there changes nothing, and each call tells what it changed. A write removes first, then inserts.
 *
 * Support. A quad inserted with a `source` stays as long as one of its sources does; one inserted without is asserted, and stays until it is
 * removed. It may be both: whoever copies quads asks `asserted` beside `supports`, or the copy goes with its sources. `removeSource` takes
 * away a source and what it alone supported. `remove` takes a quad away whoever supports it. Words of a term that no quad uses any more go
 * with the last of them.
 *
 * Reads. Strong: what was acknowledged is seen, unless `capabilities.reads` is "eventual". A match runs in the order of one index; it
 * examines at most one row for each row it returns, and a constant number more. Its cursor is a place in that order: nothing that stays
 * put is lost or doubled while others write. It is bound to nothing but what the pattern binds: features sign what they hand out. A space
 * that was never opened has nothing to read; one that is fenced or was purged is CONFLICT, so that no answer ends silently in the middle.
 * `usage` and `spaces` look at any: what waits for its purge is counted too.
 *
 * Ends. `fence` stops writes and reads at once, also of a space that was not opened yet; `unfence` takes it back, all bytes as they were.
 * `purge` needs no fence before it: from its first step on the space is "purged", for ever; it removes in bounded steps and can be
 * repeated, and reads of other spaces go on meanwhile.
 */
import type { Quad, TermText } from "../domain/rdf.ts";
import type { Scope } from "../domain/scope.ts";

export interface TripleStore {
  readonly capabilities: TripleStoreCapabilities;

  /** Registers a space; again changes nothing. CONFLICT if it is fenced or was purged. */
  open(scope: Scope, space: string): Promise<void>;
  /** One transaction where `capabilities.atomicQuadsMax` allows; more quads than that are LIMIT_EXCEEDED when `atomic`, several otherwise. */
  write(scope: Scope, space: string, change: QuadChange): Promise<QuadChanges>;
  /** Removes a source, and the quads that it alone supported, in bounded steps. */
  removeSource(scope: Scope, space: string, source: string): Promise<QuadChanges>;
  match(scope: Scope, space: string, pattern: QuadPattern, options?: MatchOptions): Promise<QuadPage>;
  /** Exact. With `max` it may stop counting there: the answer is then `max`, and means "at least". */
  count(scope: Scope, space: string, pattern: QuadPattern, options?: { readonly max?: number }): Promise<number>;
  /** Who supports each quad, in the order of source and part; an empty list for one that is asserted only or not there. At most 1,000 each. */
  supports(scope: Scope, space: string, quads: readonly Quad[]): Promise<readonly (readonly Support[])[]>;
  /** Whether each quad would stay without its supports: it is there, and was inserted without a source. At most 1,000 quads. */
  asserted(scope: Scope, space: string, quads: readonly Quad[]): Promise<readonly boolean[]>;
  /**
   * Whether each term may be one of the space's quads, at little cost: false is certain. Many questions at once are sorted out by it before each is
   * asked. An engine that keeps no terms says true. At most 1,000 terms.
   */
  mayUse(scope: Scope, space: string, terms: readonly TermText[]): Promise<readonly boolean[]>;
  /**
   * The quads that a source supports, each once with its parts, from the index of supports by source: as many supports are examined as are told, and
   * a constant number more. Strong on every engine. One page has at most 10,000 supports: the parts of a quad that has more go on on the next.
   */
  ofSource(scope: Scope, space: string, source: string, options?: MatchOptions): Promise<SourcePage>;
  /** The names of graphs in a space, in pages; without the one that has no name. */
  graphs(
    scope: Scope,
    space: string,
    options?: { readonly limit?: number; readonly cursor?: string | undefined },
  ): Promise<{ readonly graphs: readonly TermText[]; readonly cursor?: string | undefined }>;
  usage(scope: Scope, space: string): Promise<SpaceUsage>;

  /** Of this tenant, also fenced and purged ones, in the order of their names. */
  spaces(
    scope: Scope,
    options?: { readonly limit?: number; readonly cursor?: string | undefined },
  ): Promise<{ readonly spaces: readonly SpaceInfo[]; readonly cursor?: string | undefined }>;
  fence(scope: Scope, space: string): Promise<void>;
  unfence(scope: Scope, space: string): Promise<void>;
  /** Removes up to `limit` rows of what `usage` counts, and tells how many; call again until `done`. A space that never was is purged at once: its name is refused from then on. */
  purge(
    scope: Scope,
    space: string,
    options?: { readonly limit?: number },
  ): Promise<{ readonly deleted: number; readonly done: boolean }>;

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
  /** Of everything that is inserted. */
  readonly source?: Support;
  /** Refuse what cannot be done in one transaction. */
  readonly atomic?: boolean;
}

/** What a quad was found in: a document's run, and which of its passages. */
export interface Support {
  readonly source: string;
  readonly part: number;
}

export interface QuadChanges {
  readonly inserted: number;
  readonly removed: number;
}

/** What is absent may be anything. Without `g` the quads of all graphs match; `defaultGraph` means those of the one without a name. */
export interface QuadPattern {
  readonly s?: TermText | undefined;
  readonly p?: TermText | undefined;
  readonly o?: TermText | undefined;
  readonly g?: TermText | undefined;
}

export interface MatchOptions {
  /** At most 10,000; 1,000 when absent. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface QuadPage {
  readonly quads: readonly Quad[];
  /** Absent at the end. */
  readonly cursor?: string | undefined;
  /** Rows looked at for this page. */
  readonly examined: number;
}

export interface SourcePage {
  readonly quads: readonly SupportedQuad[];
  /** Absent at the end. A place among what this source supports. */
  readonly cursor?: string | undefined;
  /** Supports looked at for this page. */
  readonly examined: number;
}

export interface SupportedQuad {
  readonly quad: Quad;
  /** Ascending. */
  readonly parts: readonly number[];
}

export interface SpaceUsage {
  readonly quads: number;
  /** One for each quad, source and part. */
  readonly supports: number;
  /** Distinct ones that quads use, names of graphs included. */
  readonly terms: number;
}

export interface SpaceInfo {
  readonly space: string;
  readonly status: "open" | "fenced" | "purged";
}
