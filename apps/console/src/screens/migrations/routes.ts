import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { flagParam, numberParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

interface ListSearch {
  /** The form for a new one is open. */
  readonly create?: true | undefined;
}

interface DetailSearch {
  /** The number of the unit that is shown. */
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
