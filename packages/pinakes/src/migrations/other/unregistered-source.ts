/**
 * Collections without a record: spaces of triples and vector collections that programs created below the catalog, and those only named in
 * another program's listing. They are registered with defaults (R-TG-92). A space is registered in place; the rows of a vector collection
 * are copied to the vectors of the new collection.
 *
 * Names that may be an incarnation are skipped: incarnations without a record are left to the reconciler of the lifecycle. So nothing here
 * depends on a possibly stale index.
 */
import { z } from "zod";
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import type { TargetAddress } from "../../knowledge/index.ts";
import type { Entry } from "../differences.ts";
import { EntrySource } from "../entry-source.ts";
import { migrationLimits } from "../limits.ts";
import type { MigrationDependencies } from "../dependencies.ts";
import { heldQuads } from "../quads.ts";
import { entryOf } from "../rows/check-row.ts";
import { linesOf, parse } from "../rows/json-lines.ts";
import type { Copied, CopyStep, FoundUnit, Held, MigrationSource, Reading, UnitName } from "../source.ts";
import { pagesOf } from "../../runtime/pages.ts";

const name = z.string().min(1).max(256);

export const UnregisteredSpec = z.strictObject({
  kind: z.literal("unregistered"),
  /** The repository to register them in. */
  repository: name,
  /**
   * A file with one line per collection: { collection, user?, repository?, created_at?, description? }. The stores are then not scanned.
   */
  listing: z.string().min(1).optional(),
  /** New names for some of them. */
  collections: z.record(z.string(), name).optional(),
});
export type UnregisteredSpec = z.infer<typeof UnregisteredSpec>;

/** The contents of a unit: a space, a vector collection, both, or neither. */
type Keep = { readonly space: string | null; readonly vectors: string | null };

const life = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:\.|$)/;
const registeredName = /\.(?:own|\d+)$/;

export class UnregisteredSource extends EntrySource implements MigrationSource {
  readonly #spec: UnregisteredSpec;
  readonly #deps: MigrationDependencies;
  readonly #scope: Scope;
  readonly #listing: string | undefined;

  constructor(spec: UnregisteredSpec, deps: MigrationDependencies, scope: Scope, listing: string | undefined) {
    super();
    this.#spec = spec;
    this.#deps = deps;
    this.#scope = scope;
    this.#listing = listing;
  }

  units(): AsyncIterable<FoundUnit> {
    return this.#listing === undefined ? this.#inStores() : this.#listed(this.#listing);
  }

  async *entries({ keep }: UnitName, { signal }: Reading): AsyncGenerator<Entry> {
    const { space, vectors } = keep as unknown as Keep;
    if (space !== null) yield* quadEntries(heldQuads(this.#deps.triples, this.#scope, space, signal));
    if (vectors !== null) for await (const row of this.#deps.vectors.rows(this.#scope, vectors)) yield entryOf(row);
  }

  async *held({ keep }: UnitName, { scope, destination, signal }: Held): AsyncGenerator<Entry> {
    const { space, vectors } = keep as unknown as Keep;
    if (space !== null) yield* quadEntries(heldQuads(this.#deps.triples, scope, destination.incarnation, signal));
    if (vectors !== null) for await (const row of this.#deps.intake.rows(scope, destination)) yield entryOf(row);
  }

  async *copy(
    { keep }: UnitName,
    { scope, destination, deltas, checkpoint, signal, progress }: CopyStep,
  ): AsyncGenerator<Copied> {
    const { vectors } = keep as unknown as Keep;
    if (vectors === null) return;
    const done = (checkpoint as { batches?: number } | undefined)?.batches ?? 0;
    const { dims } = (await this.#deps.vectors.stats(this.#scope, vectors)).settings;
    // Sorted: rows have no stable order.
    const ids: string[] = [];
    for await (const { id } of this.#deps.vectors.rows(this.#scope, vectors)) {
      if (ids.push(id) % idsPerBatch === 0) signal.throwIfAborted();
      await progress();
    }
    ids.sort();
    for (let batch = 0; batch * idsPerBatch < ids.length; batch += 1) {
      signal.throwIfAborted();
      if (batch < done) continue;
      const some = ids.slice(batch * idsPerBatch, (batch + 1) * idsPerBatch);
      const upsert = (await this.#deps.vectors.get(this.#scope, vectors, some)).flatMap((row) =>
        row === undefined ? [] : [row],
      );
      await this.#deps.intake.appendRows(
        scope,
        destination,
        { deltaId: `${deltas}.${batch}`, upsert },
        { dims, signal, beat: () => progress() },
      );
      yield { checkpoint: { batches: batch + 1 }, copied: Math.min(ids.length, (batch + 1) * idsPerBatch) };
    }
  }

  /** Existing targets are refused, so there is nothing to clear. */
  async clear(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  async *#inStores(): AsyncGenerator<FoundUnit> {
    const found = new Map<string, Keep & { readonly createdAt?: number }>();
    for await (const page of pagesOf((cursor) => this.#deps.triples.spaces(this.#scope, { limit: 500, cursor }))) {
      for (const { space, status } of page.spaces)
        if (status === "open" && !life.test(space)) found.set(space, { space, vectors: null });
    }
    for (let cursor: string | undefined; ;) {
      const page = await this.#deps.vectors.list(this.#scope, { limit: 100, cursor });
      for (const { collection, status, createdAt } of page.collections) {
        if (status !== "active" || life.test(collection) || registeredName.test(collection)) continue;
        found.set(collection, { space: found.get(collection)?.space ?? null, vectors: collection, createdAt });
      }
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    for (const [id, { createdAt, ...keep }] of [...found].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const target = { repository: this.#spec.repository, collection: this.#spec.collections?.[id] ?? id };
      const dated = createdAt === undefined ? {} : { created_at: new Date(createdAt).toISOString() };
      yield { name: id, target, keep, ...dated, ...(keep.space === null ? {} : { incarnation: keep.space }) };
    }
  }

  async *#listed(path: string): AsyncGenerator<FoundUnit> {
    let line = 0;
    for await (const text of linesOf(path, () => `line ${line + 1}`)) {
      line += 1;
      if (line > migrationLimits.unitsMax)
        throw new PinakesError(
          "LIMIT_EXCEEDED",
          `The listing has more than ${migrationLimits.unitsMax} lines; migrate it in parts.`,
        );
      if (text.trim() !== "") yield this.#line(parse(text, `line ${line}`), line);
    }
  }

  #line(value: JsonObject, line: number): FoundUnit {
    const { collection, user, repository, created_at, description } = value;
    if (typeof collection !== "string" || collection === "")
      throw invalid(`line ${line}: collection: must be a string, got ${show(collection)}.`);
    const texts = { user, repository, created_at, description };
    for (const [field, text] of Object.entries(texts))
      if (text !== undefined && text !== null && typeof text !== "string")
        throw invalid(`line ${line}: ${field}: must be a string, got ${show(text)}.`);
    const id = this.#spec.collections?.[collection] ?? collection;
    const target: TargetAddress =
      typeof user === "string"
        ? { user, collection: id }
        : { repository: typeof repository === "string" ? repository : this.#spec.repository, collection: id };
    const at = typeof created_at === "string" ? Date.parse(created_at) : Number.NaN;
    const problems =
      typeof created_at === "string" && Number.isNaN(at)
        ? [
            {
              where: `line ${line}`,
              reason: `created_at: ${show(created_at)} is not a time; write ISO 8601, or omit it.`,
            },
          ]
        : [];
    return {
      name: `line ${line}`,
      target,
      ...(Number.isNaN(at) ? {} : { created_at: new Date(at).toISOString() }),
      ...(typeof description === "string" ? { description } : {}),
      problems,
      keep: { space: null, vectors: null },
    };
  }
}

const idsPerBatch = 500;

async function* quadEntries(
  quads: AsyncIterable<{ readonly s: string; readonly p: string; readonly o: string; readonly g: string }>,
): AsyncGenerator<Entry> {
  for await (const { s, p, o, g } of quads) {
    const text = JSON.stringify([s, p, o, g]);
    yield { key: text, text };
  }
}
