/** Collections that the home page creates, in the user's personal repository. */
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
/** Of the newest collections: a conflict with an older id is reported by the server. */
const listedMax = 100;

/** Created with its repository, and empty. */
export function isUnused({ is_default, document_count }: Collection): boolean {
  return is_default && document_count === 0;
}

/** A readable id, such as me/my-documents, unless the name has no usable letters. */
export async function makeOwn(name: string): Promise<CollectionId> {
  const { items } = await get<Page<Collection>>(path`/v1/repositories/${own}/collections`, {
    query: { limit: listedMax },
  });
  const id = freeSlug(name, new Set(items.map(({ collection_id }) => collection_id)));
  return made(await createCollection(own, { name, collection_id: id }));
}

/** Sample texts are loaded on the first click. */
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
      // By headings: each section is a self-contained answer.
      chunking_strategy: { type: "MARKDOWN", unit: "token", chunk_size: 110, chunk_overlap: 0 } as const,
      metadata: { tags: ["sample"] },
    };
    return await made(await createCollection(own, sample));
  } catch (error) {
    // It already exists: adds the texts to it.
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
