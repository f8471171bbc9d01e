import type { Caller, CallerInput } from "../domain/caller.ts";
import type { Log } from "../domain/log.ts";
import type { Slots } from "../domain/query-slots.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import type { ChatModels } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { Embedder, EmbeddingModel } from "../ports/embedder.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Parser } from "../ports/parser.ts";
import type { Queue } from "../ports/queue.ts";
import type { TripleStore } from "../ports/triple-store.ts";
import type { Vectors } from "../vectors/index.ts";
import type { Quotas } from "./limits.ts";

/** The models that collections may name. */
export interface Embedders {
  readonly defaultModel: string;
  readonly models: readonly Pick<EmbeddingModel, "id" | "provider">[];
  /** NOT_FOUND lists the configured models. */
  get(model: string): Promise<Embedder>;
}

export interface KnowledgeDependencies {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly triples: TripleStore;
  readonly embedders: Embedders;
  /** Absent: no chat model is configured, so no collection can extract facts with one. */
  readonly chat?: ChatModels | undefined;
  readonly parser: Parser;
  readonly clock: Clock;
  readonly system: SystemScope;
  readonly quotas: Quotas;
  /** Slots for expensive work, shared by all features of the process; own slots when absent. */
  readonly places?: Slots | undefined;
  /** How long a deleted collection can be restored; 0: never. 90 days when absent. */
  readonly trashMs?: number | undefined;
  /** The workspace's own value, where it has one. */
  readonly ownTrashMs?: ((scope: Scope) => Promise<number | undefined>) | undefined;
  /** How long objects removed by a repair are kept; 30 days when absent. */
  readonly quarantineMs?: number | undefined;
  /** Workspaces that have a drop box; none when absent. */
  readonly dropBoxes?: ReadonlySet<string> | undefined;
  /** For grants, and for admins who impersonate a user. */
  readonly callerOf: (who: CallerInput) => Caller;
  /** Time-ordered and unique. */
  readonly newId: () => string;
  readonly log: Log;
}
