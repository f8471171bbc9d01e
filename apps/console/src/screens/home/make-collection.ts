/** Collections that the start page makes: in the reader's own repository, which nobody else sees. */
import type { Collection, Page } from "@pinakes/client";
import { createCollection } from "../../api/collection-changes.ts";
import type { CollectionId } from "../../api/collections.ts";
import { isProblem } from "../../api/problem.ts";
import { get, path } from "../../api/request.ts";
import { queryClient } from "../../app/query-client.ts";
import { freeSlug } from "../../lib/slug.ts";
import { homeStrings } from "../../strings/home.ts";
import { addUploads } from "../documents/upload-queue.ts";

export const sampleId = "sample-handbook";
const own = "me";
/** Of the newest ones: whoever has more and meets an older id is told so, and takes another name. */
const listedMax = 100;

/** Came with its repository, and nobody put anything into it. */
export function isUnused({ is_default, document_count }: Collection): boolean {
  return is_default === true && document_count === 0;
}

/** Its id can be read and typed, as in me/my-documents, unless the name has no letters for it. */
export async function makeOwn(name: string): Promise<CollectionId> {
  const { items } = await get<Page<Collection>>(path`/v1/repositories/${own}/collections`, {
    query: { limit: listedMax },
  });
  const id = freeSlug(name, new Set(items.map(({ collection_id }) => collection_id)));
  return made(await createCollection(own, { name, ...(id === undefined ? {} : { collection_id: id }) }));
}

/** The texts are loaded with the page's first click on the button, not with the page. */
export async function makeSample(): Promise<void> {
  const [{ samples }, place] = await Promise.all([import("./samples/index.ts"), sampleCollection()]);
  addUploads(
    place,
    samples.map(({ name, text }) => new File([text], name, { type: "text/markdown" })),
    true,
  );
}

async function sampleCollection(): Promise<CollectionId> {
  try {
    const sample = {
      collection_id: sampleId,
      name: homeStrings.sample.name,
      description: homeStrings.sample.description,
      // By headings: each answer is a section that can be read by itself.
      chunking_strategy: { type: "MARKDOWN", unit: "token", chunk_size: 110, chunk_overlap: 0 } as const,
      metadata: { tags: ["sample"] },
    };
    return await made(await createCollection(own, sample));
  } catch (error) {
    // It was made before: then the texts go there.
    if (!isProblem(error, 409)) throw error;
    return idOf(await get<Collection>(path`/v1/repositories/${own}/collections/${sampleId}`));
  }
}

async function made(collection: Collection): Promise<CollectionId> {
  await queryClient.invalidateQueries({ queryKey: ["collections"] });
  return idOf(collection);
}

function idOf({ repository_id: rid, collection_id: cid }: Collection): CollectionId {
  return { rid, cid };
}
