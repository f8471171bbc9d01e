import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { readGraphSearch } from "./graph-state.ts";

export const graphRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/graph",
    validateSearch: readGraphSearch,
    component: lazyRouteComponent(() => import("./graph-page.tsx"), "GraphPage"),
  }),
] as const;
