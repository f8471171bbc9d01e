/** An external store takes part only by answering messages. */
import type { Lifecycle } from "./lifecycle.ts";
import type { Incarnation, Participant } from "./participant.ts";
import type { StoreClass } from "./topics.ts";
import type { Scope } from "../domain/scope.ts";

export interface ParticipantHandlers {
  /** Removes up to about `limit` rows of an incarnation; called again until `done`. Must refuse later writes to it. */
  readonly delete: (
    scope: Scope,
    incarnation: Incarnation,
    options: { readonly limit: number },
  ) => Promise<{ readonly deleted: number; readonly done: boolean }>;
  /** What remains of an incarnation. */
  readonly count: (scope: Scope, incarnation: Incarnation) => Promise<number>;
  /** Absent: the store does not take part in archiving. */
  readonly archive?: (scope: Scope, incarnation: Incarnation) => Promise<{ readonly count: number }>;
  readonly incarnations?: Participant["incarnations"];
}

export interface ServedParticipant {
  readonly store: string;
  readonly class: StoreClass;
  readonly handlers: ParticipantHandlers;
}

/**
 * Registers the store and answers its topic until the signal.
 *
 * @example
 * await using pinakes = await open({ dir: "./data", background: false });
 * await serveParticipant(pinakes.lifecycle, { store: "search-cache", class: "object", handlers: { delete: …, count: … } }, signal);
 */
export async function serveParticipant(
  lifecycle: Pick<Lifecycle, "serve">,
  { store, class: storeClass, handlers }: ServedParticipant,
  signal: AbortSignal,
): Promise<void> {
  const participant: Participant = {
    store,
    class: storeClass,
    capabilities: { delete: true, archive: handlers.archive !== undefined, list: handlers.incarnations !== undefined },
    // It learns of a delete when its data must be removed; until then the catalog hides the collection.
    fence: async () => {},
    unfence: async () => {},
    deleteStep: (scope, incarnation, options) => handlers.delete(scope, incarnation, options),
    count: (scope, incarnation) => handlers.count(scope, incarnation),
    archive: async (scope, incarnation) =>
      (await handlers.archive?.(scope, incarnation)) ?? { count: await handlers.count(scope, incarnation) },
    incarnations: async (scope, options) => (await handlers.incarnations?.(scope, options)) ?? { incarnations: [] },
  };
  await lifecycle.serve(participant, signal);
}
