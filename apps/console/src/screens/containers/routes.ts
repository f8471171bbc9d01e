import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { flagParam, oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

export const containerTabs = ["items", "query", "indexes", "changes"] as const;

export interface ContainerSearch {
  readonly tab?: (typeof containerTabs)[number] | undefined;
  readonly pk?: string | undefined;
  /** The executed query, and its partition. */
  readonly sql?: string | undefined;
  readonly sqlPk?: string | undefined;
  readonly plan?: true | undefined;
  readonly from?: "oldest" | undefined;
  /** The open item. */
  readonly item?: string | undefined;
  readonly itemPk?: string | undefined;
}

export const containerRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/containers",
    component: lazyPage(async () => (await import("./containers-page.tsx")).ContainersPage),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/containers/$c",
    validateSearch: (search: Record<string, unknown>): ContainerSearch => ({
      tab: oneOfParam(search["tab"], containerTabs),
      pk: pkParam(search["pk"]),
      sql: textParam(search["sql"]),
      sqlPk: pkParam(search["sqlPk"]),
      plan: flagParam(search["plan"]),
      from: oneOfParam(search["from"], ["oldest"]),
      item: textParam(search["item"]),
      itemPk: pkParam(search["itemPk"]),
    }),
    component: lazyPage(async () => (await import("./container-page.tsx")).ContainerPage),
  }),
] as const;

/** The router parses a hand-typed JSON list in the URL to an array. */
function pkParam(value: unknown): string | undefined {
  return Array.isArray(value) ? JSON.stringify(value) : textParam(value);
}
