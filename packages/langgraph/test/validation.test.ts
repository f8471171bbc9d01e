/**
 * The tests that LangGraph has for checkpointers, all of them, on every engine. They use vitest's functions as globals, so ours are
 * put there; the vitest that their package brings is not loaded.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import { openWorld, type Engine, type Via, type World } from "../../client/test/support/worlds.ts";
import { createClient, type StateApi } from "@pinakes/client";
import { PinakesSaver } from "../src/index.ts";

Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

const runs: readonly (readonly [Engine, Via])[] = [
  ["memory", "embedded"],
  ["sqlite", "embedded"],
  ["sqlite", "http"],
  ["postgres", "embedded"],
  ["postgres", "http"],
  ["dynamodb", "embedded"],
];

describe.each(runs)("on %s, %s", (engine, via) => {
  let world: World;
  let api: StateApi;
  let containers = 0;
  const startMs = 600_000;
  const initializer = {
    checkpointerName: "R-AGT-94 PinakesSaver",
    beforeAll: async () => {
      world = await openWorld(engine, via);
      api = await world.api();
    },
    beforeAllTimeout: startMs,
    afterAll: async () => world[Symbol.asyncDispose](),
    // Each has a container of its own: some tests list everything there is.
    createCheckpointer: () => new PinakesSaver(createClient(api), { container: `checkpoints-${(containers += 1)}` }),
  };
  specTest(initializer);
  deltaChannelHistoryTests(initializer);
});
