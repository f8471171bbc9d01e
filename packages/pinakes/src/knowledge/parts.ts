/** What the knowledge side is made of: the stores and components that `open.ts` joins. */
import type { Caller, CallerInput } from "../domain/caller.ts";
import type { SystemScope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { Embedder, EmbeddingModel, Tokenizer } from "../ports/embedder.ts";
import type { ItemStore } from "../ports/item-store.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Parser } from "../ports/parser.ts";
import type { Queue } from "../ports/queue.ts";
import type { Vectors } from "../vectors/index.ts";
import type { Quotas } from "./limits.ts";

/** The models that collections may name. */
export interface Embedders {
  readonly defaultModel: string;
  readonly models: readonly Pick<EmbeddingModel, "id" | "provider">[];
  /** NOT_FOUND names the ones there are. */
  get(model: string): Promise<Embedder>;
}

export interface KnowledgeParts {
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly embedders: Embedders;
  readonly parser: Parser;
  /** Loaded when it is first needed. */
  readonly tokenizer: () => Promise<Tokenizer>;
  readonly clock: Clock;
  readonly system: SystemScope;
  readonly quotas: Quotas;
  /** For those who act for others: grants, and admins who look as a user. */
  readonly callerOf: (who: CallerInput) => Caller;
  /** Time-ordered, never the same twice. */
  readonly newId: () => string;
  readonly log: (line: string) => void;
}
