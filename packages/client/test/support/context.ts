import type { StateClient } from "../../src/index.ts";
import type { World } from "./worlds.ts";

/** What the parts of the contract run on; there once the tests have begun. */
export interface Context {
  readonly world: () => World;
  readonly client: () => StateClient;
}

let names = 0;
/** A name that no other test has. */
export const fresh = (what: string): string => `${what}-${(names += 1)}`;
