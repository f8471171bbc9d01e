/** The collections of a tenant. */
import { requireScope, type Scope } from "../../domain/scope.ts";
import type { CollectionSettings } from "../segment/collection-settings.ts";
import type { VectorDependencies } from "../store/dependencies.ts";
import { vectorsContainer, type Fence, type Status } from "../store/records.ts";

export interface CollectionSummary {
  readonly collection: string;
  readonly status: Status;
  readonly settings: CollectionSettings;
  readonly createdAt: number;
  readonly purgeAt?: number;
}

export interface CollectionPage {
  readonly collections: readonly CollectionSummary[];
  /** Absent at the end. */
  readonly cursor?: string;
}

export async function listCollections(
  deps: VectorDependencies,
  scope: Scope,
  { limit = 100, cursor }: { limit?: number; cursor?: string | undefined },
): Promise<CollectionPage> {
  requireScope(scope);
  const filter = { status: { ne: "deleted" } };
  const page = await deps.items.query(scope, vectorsContainer.name, {
    index: "collections",
    equals: { kind: "fence" },
    filter,
    limit,
    cursor,
  });
  const collections = page.items.map(({ document }) => {
    const { collection, status, settings, createdAt, purgeAt } = document as unknown as Fence & { collection: string };
    return { collection, status, settings, createdAt, ...(purgeAt === undefined ? {} : { purgeAt }) };
  });
  return { collections, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
}
