/** Stores for the tests of one file, and a process over them without faults. */
import { afterAll } from "vitest";
import { World, type Process } from "./world.ts";

export async function quietWorld(): Promise<{ readonly world: World; readonly quiet: Process }> {
  const world = await World.open();
  const quiet = await world.process();
  afterAll(async () => {
    await quiet.close();
    await world[Symbol.asyncDispose]();
  });
  return { world, quiet };
}
