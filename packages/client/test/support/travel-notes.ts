/** A collection for the adapters' tests of their search as a tool. */
import type { PinakesClient } from "../../src/index.ts";
import { openWorld, type Engine, type Via, type World } from "./worlds.ts";

export interface TravelNotes extends AsyncDisposable {
  readonly world: World;
  readonly client: PinakesClient;
  readonly at: string;
}

export const travelQuestion = "How does Ada travel?";
/** What stands in the document that answers it. */
export const travelAnswer = "Ada prefers trains to planes.";

export async function openTravelNotes(engine: Engine, via: Via): Promise<TravelNotes> {
  const world = await openWorld(engine, via);
  const client = await world.client();
  const at = "me/notes";
  await client.collections.create({ repository: "me", collection_id: "notes", name: "Notes" });
  const bodies = { "ada.md": `# Travel\n\n${travelAnswer}\n`, "bob.md": "# Food\n\nBob eats no mushrooms.\n" };
  for (const [name, body] of Object.entries(bodies)) await client.documents.upload(at, { name, body }, { wait: true });
  return { world, client, at, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}
