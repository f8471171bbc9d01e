/**
 * Moves a collection to another id or another repository of its workspace (`migrate-collection`). Both sides are here, so the knowledge
 * feature creates, switches and restores the target; counting, hashing and the order of the steps are shared with all sources.
 */
import { z } from "zod";
import { PinakesError, show } from "../../domain/errors.ts";
import type { Caller } from "../../domain/caller.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { CopyProgress, IncarnationRow, Move } from "../../knowledge/index.ts";
import { canonicalText, isSame } from "../content-hash.ts";
import type { Entry } from "../differences.ts";
import { EntrySource } from "../entry-source.ts";
import type { MigrationDependencies } from "../dependencies.ts";
import type {
  Copied,
  CopyStep,
  FoundUnit,
  GivingBack,
  Held,
  MigrationSource,
  InPlaceTarget,
  Reading,
  UnitName,
} from "../source.ts";

const name = z.string().min(1).max(256);

export const CollectionSpec = z.strictObject({
  kind: z.literal("collection"),
  /** `me` is the caller's personal repository. */
  repository: name,
  collection: name,
  /** Absent fields stay unchanged. */
  to: z.strictObject({ repository: name.optional(), collection: name.optional() }),
  /** Continue although an external store may hold data of it. */
  allow_partial: z.boolean().optional(),
});
export type CollectionSpec = z.infer<typeof CollectionSpec>;

/** As stored: with ids instead of aliases, and the incarnation. */
export interface SettledSpec {
  readonly kind: "collection";
  readonly repository: string;
  readonly collection: string;
  readonly incarnation: string;
  readonly to: { readonly repository: string; readonly collection: string };
  readonly allow_partial?: boolean | undefined;
}

export async function settleCollection(
  spec: CollectionSpec,
  deps: MigrationDependencies,
  caller: Caller,
): Promise<JsonObject> {
  const { from, to } = await deps.intake.moves.resolve(caller, spec);
  return {
    kind: spec.kind,
    repository: from.repository_id,
    collection: from.collection_id,
    incarnation: from.incarnation,
    to: { repository: to.repository_id, collection: to.collection_id },
    ...(spec.allow_partial === undefined ? {} : { allow_partial: spec.allow_partial }),
  };
}

export function moveOf({ repository, collection, incarnation, to }: SettledSpec): Move {
  return {
    from: { repository_id: repository, collection_id: collection, incarnation },
    to: { repository_id: to.repository, collection_id: to.collection },
  };
}

export class CollectionSource extends EntrySource implements MigrationSource {
  readonly inPlace: InPlaceTarget;
  readonly #deps: MigrationDependencies;
  readonly #caller: Caller;
  readonly #spec: SettledSpec;
  readonly #move: Move;

  constructor(spec: SettledSpec, deps: MigrationDependencies, caller: Caller) {
    super();
    this.#spec = spec;
    this.#deps = deps;
    this.#caller = caller;
    this.#move = moveOf(spec);
    const { moves } = deps.intake;
    const { scope, userId } = caller;
    this.inPlace = {
      retainMs: () => moves.trashMsOf(scope),
      register: async (migration_id, signal, ensureOwned) =>
        moves.register({ scope, move: this.#move, signal }, migration_id, ensureOwned),
      takeOver: async (destination, migration_id) => moves.takeOver(scope, this.#move, destination, migration_id),
      requireBack: async (giving) => this.#requireBack(giving),
      giveBack: async ({ migration_id, switched, ensureOwned }) =>
        moves.giveBack(scope, this.#move, migration_id, { switched, ensureOwned }),
      leave: async (migration_id) => moves.leave(scope, this.#move, migration_id),
      remove: async (signal, progress) =>
        moves.remove({ scope, move: this.#move, signal, beat: () => progress() }, userId),
    };
  }

  async *units(): AsyncGenerator<FoundUnit> {
    const { repository, collection, to, allow_partial = false } = this.#spec;
    const { created_at, problems } = await this.#deps.intake.moves.inspect(
      this.#caller.scope,
      this.#move,
      allow_partial,
    );
    const unit = `${repository}/${collection}`;
    yield {
      name: unit,
      target: { repository: to.repository, collection: to.collection },
      created_at,
      problems: problems.map((reason) => ({ where: unit, reason })),
    };
  }

  async *entries(_: UnitName, { signal, problem, progress }: Reading): AsyncGenerator<Entry> {
    const options = { scope: this.#caller.scope, move: this.#move, signal, beat: () => progress() };
    const wanted = this.#deps.intake.moves.wanted(options, (where, reason) => problem({ where, reason }));
    for await (const row of wanted) yield entryOf(row);
  }

  async *held(_: UnitName, { scope, destination, signal, progress }: Held): AsyncGenerator<Entry> {
    for await (const row of this.#deps.intake.moves.held({ scope, signal, beat: () => progress?.() }, destination))
      yield entryOf(row);
  }

  async *copy(
    _: UnitName,
    { scope, destination, deltas, checkpoint, signal, progress }: CopyStep,
  ): AsyncGenerator<Copied> {
    const from = checkpoint as CopyProgress | undefined;
    for await (const step of this.#deps.intake.moves.copy(
      { scope, move: this.#move, signal, beat: () => progress() },
      destination,
      deltas,
      from,
    ))
      yield { checkpoint: { ...step }, copied: step.copied };
  }

  /** The collection was created by this migration, and is deleted as a whole. */
  async clear(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  /** Nothing is lost: later writes to the new collection go to the trash with it, and only with force. */
  async #requireBack({
    migration_id,
    switched,
    force,
    verified,
    signal,
    progress,
    ensureOwned,
  }: GivingBack): Promise<void> {
    if (!switched) return;
    const { moves } = this.#deps.intake;
    const { scope } = this.#caller;
    await moves.requireWayBack(scope, this.#move, migration_id, ensureOwned);
    const destination = await moves.findTarget(scope, this.#move, migration_id);
    const requireSame = async () => {
      if (
        destination === undefined ||
        force ||
        isSame(await this.measureHeld({ name: "" }, { scope, destination, signal, progress }), verified)
      )
        return;
      // Also if an earlier attempt held it and died: writers must not wait for a rollback that never comes.
      await ensureOwned();
      await moves.releaseTarget(scope, this.#move, migration_id);
      throw new PinakesError(
        "CONFLICT",
        `Collection ${show(destination.collection_id)} was written to since the switch. Roll back with force to move these writes to the trash with it.`,
      );
    };
    // Before it is held, and again when nobody can write to it any more.
    await requireSame();
    await moves.holdTarget(scope, this.#move, migration_id, ensureOwned);
    await requireSame();
  }
}

function entryOf({ key, value }: IncarnationRow): Entry {
  return { key, text: `${JSON.stringify(key)}${canonicalText(value)}` };
}
