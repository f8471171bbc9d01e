/** What the knowledge side is made of: the stores and components that `open.ts` joins. */
import type { Caller, CallerInput } from "../domain/caller.ts";
import type { Log } from "../domain/log.ts";
import type { Slots } from "../domain/query-slots.ts";
import type { SystemScope } from "../domain/scope.ts";
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
  /** NOT_FOUND names the ones there are. */
  get(model: string): Promise<Embedder>;
}

export interface KnowledgeDependencies {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly triples: TripleStore;
  readonly embedders: Embedders;
  /** Absent: there is none, and no collection can have its documents read by one. */
  readonly chat?: ChatModels | undefined;
  readonly parser: Parser;
  readonly clock: Clock;
  readonly system: SystemScope;
  readonly quotas: Quotas;
  /** Where what computes much takes its place, shared by all features of the process; its own when absent. */
  readonly places?: Slots | undefined;
  /** How long a deleted collection can be had back; 0: not at all. 90 days when absent. */
  readonly trashMs?: number | undefined;
  /** How long what a repair took away is kept; 30 days when absent. */
  readonly quarantineMs?: number | undefined;
  /** Workspaces that have a drop box; none when absent. */
  readonly dropBoxes?: ReadonlySet<string> | undefined;
  /** For those who act for others: grants, and admins who look as a user. */
  readonly callerOf: (who: CallerInput) => Caller;
  /** Time-ordered, never the same twice. */
  readonly newId: () => string;
  readonly log: Log;
}
