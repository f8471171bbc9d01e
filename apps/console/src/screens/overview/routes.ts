import { createRoute } from "@tanstack/react-router";
import { statsRanges, type StatsRange } from "../../api/stats.ts";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

interface OverviewSearch {
  readonly range?: StatsRange | undefined;
}

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/overview",
    validateSearch: (search: Record<string, unknown>): OverviewSearch => ({
      range: oneOfParam(search["range"], statsRanges),
    }),
    component: lazyPage(async () => (await import("./overview-page.tsx")).OverviewPage),
  }),
] as const;
