/** This store beside Mastra's own in memory, whose answers are what the interface means. */
import { InMemoryStore, type MemoryStorage, type ScoresStorage, type WorkflowsStorage } from "@mastra/core/storage";
import type { MastraDBMessage, StorageThreadType } from "@mastra/core/memory";
import { openWorld, type Engine, type Via, type World } from "../../../client/test/support/worlds.ts";
import { PinakesStore } from "../../src/index.ts";

export const ways: readonly (readonly [Engine, Via])[] = [
  ["sqlite", "embedded"],
  ["sqlite", "http"],
];

export interface Domains {
  readonly memory: MemoryStorage;
  readonly workflows: WorkflowsStorage;
  readonly scores: ScoresStorage;
}

export interface Stores extends AsyncDisposable {
  readonly world: World;
  readonly store: PinakesStore;
  /** A second store on the same data, as another process would have. */
  another(): Promise<PinakesStore>;
  readonly ours: Domains;
  readonly reference: Domains;
}

export async function openStores(engine: Engine, via: Via): Promise<Stores> {
  const world = await openWorld(engine, via);
  const store = new PinakesStore({ api: await world.api() });
  return {
    world,
    store,
    another: async () => new PinakesStore({ api: await world.api() }),
    ours: domainsOf(store),
    reference: domainsOf(new InMemoryStore()),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

export function domainsOf(store: PinakesStore | InMemoryStore): Domains {
  const { memory, workflows, scores } = store.stores;
  if (memory === undefined || workflows === undefined || scores === undefined) throw new Error("a domain is missing");
  return { memory, workflows, scores };
}

const second = 1_000;
const begin = Date.UTC(2026, 0, 1);

export function thread(id: string, more: Partial<StorageThreadType> = {}): StorageThreadType {
  return {
    id,
    resourceId: "r1",
    title: `Title of ${id}`,
    metadata: {},
    createdAt: new Date(begin),
    updatedAt: new Date(begin),
    ...more,
  };
}

/** `at`: seconds after the beginning. */
export function message(
  id: string,
  at: number,
  more: Partial<MastraDBMessage> & { readonly metadata?: Record<string, unknown> } = {},
): MastraDBMessage {
  const { metadata, ...rest } = more;
  return {
    id,
    threadId: "t1",
    resourceId: "r1",
    role: "user",
    createdAt: new Date(begin + at * second),
    content: {
      format: 2,
      parts: [{ type: "text", text: `text of ${id}` }],
      ...(metadata === undefined ? {} : { metadata }),
    },
    ...rest,
  };
}

export const dateAt = (at: number) => new Date(begin + at * second);
