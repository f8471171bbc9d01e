import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { flagParam, oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { documentFilters, type DocumentFilters } from "../documents/document-filters.ts";

export const collectionSorts = ["name", "size", "updated_at", "created_at", "last_used_at"] as const;
export const collectionFilters = ["live", "ACTIVE", "ARCHIVED", "DELETE_IN_PROGRESS", "DELETE_FAILED"] as const;
export const collectionTabs = ["documents", "ask", "settings", "vectors", "pipelines"] as const;

export interface CollectionsSearch {
  readonly q?: string | undefined;
  readonly tag?: string | undefined;
  readonly repository?: string | undefined;
  readonly status?: (typeof collectionFilters)[number] | undefined;
  readonly sort?: (typeof collectionSorts)[number] | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** The create dialog is open. */
  readonly new?: true | undefined;
}

export interface CollectionSearch extends DocumentFilters {
  readonly tab?: (typeof collectionTabs)[number] | undefined;
  readonly edit?: true | undefined;
  /** The followed job. */
  readonly job?: string | undefined;
  readonly ask?: string | undefined;
}

export const collectionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/collections",
    validateSearch: (search: Record<string, unknown>): CollectionsSearch => ({
      q: textParam(search["q"]),
      tag: textParam(search["tag"]),
      repository: textParam(search["repository"]),
      status: oneOfParam(search["status"], collectionFilters),
      sort: oneOfParam(search["sort"], collectionSorts),
      order: oneOfParam(search["order"], ["asc", "desc"]),
      new: flagParam(search["new"]),
    }),
    component: lazyPage(async () => (await import("./collections-page.tsx")).CollectionsPage),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/collections/$rid/$cid",
    validateSearch: (search: Record<string, unknown>): CollectionSearch => ({
      tab: oneOfParam(search["tab"], collectionTabs),
      edit: flagParam(search["edit"]),
      job: textParam(search["job"]),
      ask: textParam(search["ask"]),
      ...documentFilters(search),
    }),
    component: lazyPage(async () => (await import("./collection-page.tsx")).CollectionPage),
  }),
] as const;
