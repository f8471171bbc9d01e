import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { readLabSearch } from "./search-state.ts";

export const searchRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/search",
    validateSearch: readLabSearch,
    component: lazyRouteComponent(() => import("./search-page.tsx"), "SearchPage"),
  }),
] as const;
