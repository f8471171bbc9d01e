/**
 * Collections that come into being by being used (RFC 0007): the first load makes them where the repository says so (`auto_create`), the
 * first query where it says that (`create_on_query`), else only somebody who asks for them. However many come first, one record is made.
 * Each use is noted. Nobody calls this from outside: there is no route to it.
 */
import type { Caller } from "../../domain/caller.ts";
import { hasCode } from "../../domain/errors.ts";
import { noteUse } from "./uses.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { Collections } from "./collections.ts";
import type { OpenCollection } from "../access/open-collection.ts";
import { NameTaken } from "../records/name-taken.ts";
import { checkFileName } from "../records/names.ts";
import type { Repositories } from "./repositories.ts";

export interface OpenOrCreateDependencies {
  readonly deps: Pick<KnowledgeDependencies, "items" | "clock" | "log">;
  readonly collections: Collections;
  readonly repositories: Repositories;
}

/** For what is about to load something. A file whose name is refused makes nothing. */
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

/** For what only asks. */
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
  /** Throws what forbids that something is made. */
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
  const { record } = await repositories.get(caller, repositoryId);
  if (record[setting] !== true) throw error;
  check();
  try {
    return await collections.create(caller, repositoryId, { collection_id: collectionId });
  } catch (cause) {
    // Made at the same time by another use; or it is there, and not for this caller.
    if (!hasCode(cause, "CONFLICT") || cause instanceof NameTaken) throw cause;
    return open();
  }
}
