import { upload } from "../../knowledge/support/test-pinakes.ts";
import { namesIn, type Face } from "./faces.ts";
import type { World } from "./world.ts";

/** Papers that the events tell of since before the first of them, up to now. */
export async function newEvents(world: World): Promise<Face> {
  const { knowledge, caller: admin, repository, collection } = world.place;
  const { document_id } = await upload(world.place, "last.txt", "The last of all.");
  return async (_, caller) => {
    // A change of a document that everybody sees, behind all others in the feed.
    await knowledge.documents.setAccess(admin, repository, collection, document_id, { sensitivity: [] });
    const stop = new AbortController();
    let told = "";
    for await (const event of knowledge.events(caller, { after: world.since, signal: stop.signal, pollMs: 10 })) {
      told += JSON.stringify(event);
      if (event.resource["document_id"] === document_id) break;
    }
    stop.abort();
    return namesIn(told);
  };
}
