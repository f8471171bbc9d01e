import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { flagParam, numberParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

interface ListSearch {
  readonly create?: true | undefined;
}

interface DetailSearch {
  /** The number of the open unit. */
  readonly unit?: number | undefined;
}

export const migrationRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/migrations",
    validateSearch: (search: Record<string, unknown>): ListSearch => ({ create: flagParam(search["create"]) }),
    component: lazyPage(async () => (await import("./migrations-page.tsx")).MigrationsPage),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/migrations/$mid",
    validateSearch: (search: Record<string, unknown>): DetailSearch => ({ unit: numberParam(search["unit"]) }),
    component: lazyPage(async () => (await import("./migration-page.tsx")).MigrationPage),
  }),
] as const;
