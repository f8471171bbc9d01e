import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { readGraphSearch } from "./graph-state.ts";

export const graphRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/graph",
    validateSearch: readGraphSearch,
    component: lazyPage(async () => (await import("./graph-page.tsx")).GraphPage),
  }),
] as const;
