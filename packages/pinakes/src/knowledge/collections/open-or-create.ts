/**
 * Collections created on first use (RFC 0007): by an upload if the repository has `auto_create`, by a query if it has `create_on_query`,
 * otherwise only explicitly. Concurrent first uses create one record. Every use is recorded. There is no route for this.
 */
import type { Caller } from "../../domain/caller.ts";
import { hasCode } from "../../domain/errors.ts";
import { noteUse } from "./uses.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Collections } from "./collections.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { NameTaken } from "../records/name-taken.ts";
import { personalAlias, personalRepositoryId } from "../records/ids.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import { checkFileName } from "../records/names.ts";
import type { Repositories } from "./repositories.ts";

export interface OpenOrCreateDependencies {
  readonly deps: Pick<KnowledgeDependencies, "items" | "clock" | "log">;
  readonly collections: Collections;
  readonly repositories: Repositories;
}

/** For uploads. A refused file name creates nothing. */
export async function openOrCreate(
  services: OpenOrCreateDependencies,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  file?: { readonly name: string },
  action = "Adding documents",
): Promise<OpenCollection> {
  const needed = { needed: "WRITE", action } as const;
  return used(services, caller, repositoryId, collectionId, {
    open: () => services.collections.open(caller, repositoryId, collectionId, needed),
    setting: "auto_create",
    check: () => void (file !== undefined && checkFileName(file.name)),
  });
}

/** For queries. */
export async function openToQuery(
  services: OpenOrCreateDependencies,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  action = "Reading",
): Promise<OpenCollection> {
  const needed = { needed: "READ", action } as const;
  return used(services, caller, repositoryId, collectionId, {
    open: () => services.collections.open(caller, repositoryId, collectionId, needed),
    setting: "create_on_query",
    check: () => {},
  });
}

interface Use {
  readonly open: () => Promise<OpenCollection>;
  readonly setting: "auto_create" | "create_on_query";
  /** Throws if nothing may be created. */
  readonly check: () => void;
}

async function used(
  services: OpenOrCreateDependencies,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  use: Use,
): Promise<OpenCollection> {
  const opened = await use
    .open()
    .catch((error: unknown) => created(services, caller, repositoryId, collectionId, use, error));
  await noteUse(services.deps, caller.scope, opened.collection);
  return opened;
}

async function created(
  { collections, repositories }: OpenOrCreateDependencies,
  caller: Caller,
  repositoryId: string,
  collectionId: string,
  { open, setting, check }: Use,
  error: unknown,
): Promise<OpenCollection> {
  if (!hasCode(error, "NOT_FOUND")) throw error;
  // By its own id: the alias would create the personal repository, and a new one creates nothing on first use.
  const named = repositoryId === personalAlias ? personalRepositoryId(caller.userId) : repositoryId;
  const repository = await ifMissing(repositories.get(caller, named));
  if (repository?.record[setting] !== true) throw error;
  check();
  try {
    return await collections.create(caller, repositoryId, { collection_id: collectionId });
  } catch (cause) {
    // Created concurrently by another use, or it exists and this caller may not see it.
    if (!hasCode(cause, "CONFLICT") || cause instanceof NameTaken) throw cause;
    return open();
  }
}
