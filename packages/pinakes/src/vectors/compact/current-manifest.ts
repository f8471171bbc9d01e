/** The state of a collection and the manifest of its head, which are read one after the other: repeated if the head moved in between. */
import { PinakesError } from "../../domain/errors.ts";
import type { CollectionSite } from "../store/collection-site.ts";
import type { Manifest } from "../store/manifest.ts";
import type { Fence, Head, Log } from "../store/records.ts";
import { manifestOf } from "./fold.ts";
import { Fenced } from "./publish.ts";

const attemptsMax = 20;

export async function currentManifest(
  site: CollectionSite,
): Promise<{ fence: Fence; head: Head; log: Log; manifest: Manifest }> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const state = await site.state();
    try {
      return { ...state, manifest: await manifestOf(site, state.head) };
    } catch (error) {
      if (!(error instanceof Fenced)) throw error;
    }
  }
  throw new PinakesError("UNAVAILABLE", "The collection changed repeatedly during this read; try again.");
}
