/**
 * The target of a drop box: a collection of the catalog, so that its rows are counted, searched and deleted like all others. A message
 * names `repository/collection`, or only a collection, of the repository `drop-box`. Missing ones are created. Vectors of that name created
 * outside the catalog (`pinakes vectors import`) keep receiving their rows, with a log line.
 */
import { hasCode, PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { tolerate } from "../../runtime/expected-errors.ts";
import type { DropBoxLocation } from "../../vectors/index.ts";
import type { Collections } from "../collections/collections.ts";
import type { Repositories } from "../collections/repositories.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { CollectionPartition } from "../records/collection-partition.ts";
import { archived, type OpenCollection } from "../access/open-collection.ts";
import { ownVectorsName } from "../records/raw-vectors-name.ts";

export const dropBoxRepository = "drop-box";
const userId = "drop-box";

interface Dependencies {
  readonly deps: KnowledgeDependencies;
  readonly collections: Collections;
  readonly repositories: Repositories;
}

export async function dropBoxPlace(services: Dependencies, scope: Scope, named: string): Promise<DropBoxLocation> {
  const { deps } = services;
  const [first = "", second, ...more] = named.split("/");
  if (more.length > 0 || first === "" || second === "")
    throw invalid(`collection: must be "repository/collection" or "collection", got ${show(named)}.`);
  if (second === undefined && (await deps.vectors.settings(scope, named)) !== undefined) {
    deps.log(
      `drop-box: the vectors "${named}" of ${scope.tenant} belong to no collection, so searches do not find their rows; send "repository/collection"`,
    );
    return { vectors: named };
  }
  const [repositoryId, collectionId] = second === undefined ? [dropBoxRepository, first] : [first, second];
  const { collection } = await openOrMake(services, scope, repositoryId, collectionId, second === undefined);
  if (collection.status === "ARCHIVED") throw archived(collection);
  const partition = new CollectionPartition(deps.items, scope, collection);
  return {
    vectors: ownVectorsName(collection.incarnation),
    create: true,
    // The first rows create their vectors, which a concurrent delete did not see.
    beforePart: async () => {
      const status = (await partition.fence())?.record.status ?? "ACTIVE";
      if (status !== "ACTIVE")
        throw new PinakesError(
          "CONFLICT",
          `Collection "${collectionId}" does not accept rows: it is ${status.toLowerCase()}.`,
        );
    },
  };
}

async function openOrMake(
  services: Dependencies,
  scope: Scope,
  repositoryId: string,
  collectionId: string,
  makeRepository: boolean,
): Promise<OpenCollection> {
  const caller = services.deps.callerOf({ tenant: scope.tenant, userId, role: "admin" });
  const open = () =>
    services.collections.open(caller, repositoryId, collectionId, { needed: "WRITE", action: "Importing a delta" });
  try {
    return await open();
  } catch (error) {
    if (!hasCode(error, "NOT_FOUND")) throw error;
  }
  if (makeRepository)
    await unlessThere(services.repositories.create(caller, { repository_id: repositoryId, name: "Drop box" }));
  await unlessThere(services.collections.create(caller, repositoryId, { collection_id: collectionId }));
  return open();
}

/** Created concurrently, or it already existed. */
async function unlessThere(making: Promise<unknown>): Promise<void> {
  await tolerate(making, "CONFLICT");
}
