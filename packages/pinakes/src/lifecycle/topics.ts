/**
 * The queues of the lifecycle, with LISA's names. Each store has a queue of its own, so that two stores of a class both get every message:
 * the built-in store of a class uses the class's topic itself, all others `<topic>-<store>`.
 */
import { invalid, show } from "../domain/errors.ts";
import { lifecycleLimits } from "./limits.ts";

export const object_storage_management_topic = "object-storage-management";
export const vector_storage_management_topic = "vector-storage-management";
export const triples_storage_management_topic = "triples-storage-management";
export const storage_management_response_topic = "storage-management-response";

export const storeClasses = ["object", "vector", "triples"] as const;
export type StoreClass = (typeof storeClasses)[number];

const topicOfClass: Readonly<Record<StoreClass, string>> = {
  object: object_storage_management_topic,
  vector: vector_storage_management_topic,
  triples: triples_storage_management_topic,
};

/** The stores that use the topic of their class. */
const firstOfClass: Readonly<Record<StoreClass, string>> = { object: "objects", vector: "vectors", triples: "triples" };

const storePattern = new RegExp(`^[a-z0-9][a-z0-9-]{0,${lifecycleLimits.storeCharsMax - 1}}$`);
const prefixPattern = new RegExp(`^[a-z0-9][a-z0-9-]{0,${lifecycleLimits.topicPrefixCharsMax - 1}}$`);

export function checkStore(store: unknown): string {
  if (typeof store === "string" && storePattern.test(store)) return store;
  throw invalid(
    `store: must be a name of 1–${lifecycleLimits.storeCharsMax} lower-case letters, digits and dashes, got ${show(store)}.`,
  );
}

/** For deployments that share their queues; "" for none. */
export function checkTopicPrefix(prefix: unknown, where = "topicPrefix"): string {
  if (prefix === "" || (typeof prefix === "string" && prefixPattern.test(prefix))) return prefix;
  throw invalid(
    `${where}: must be 1–${lifecycleLimits.topicPrefixCharsMax} lower-case letters, digits and dashes, not starting with a dash, got ${show(prefix)}.`,
  );
}

export class Topics {
  readonly #prefix: string;

  constructor(prefix = "") {
    this.#prefix = checkTopicPrefix(prefix);
  }

  of(storeClass: StoreClass, store: string): string {
    const topic = topicOfClass[storeClass];
    return `${this.#prefix}${firstOfClass[storeClass] === store ? topic : `${topic}-${store}`}`;
  }

  /** Whether a queue is one of these: of any store, in any process, or that of the replies. */
  has(queue: string): boolean {
    if (queue === this.replies) return true;
    return storeClasses.some((storeClass) => {
      const topic = `${this.#prefix}${topicOfClass[storeClass]}`;
      return queue === topic || (queue.startsWith(`${topic}-`) && storePattern.test(queue.slice(topic.length + 1)));
    });
  }

  get replies(): string {
    return `${this.#prefix}${storage_management_response_topic}`;
  }
}
