import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { readLabSearch } from "./search-state.ts";

export const searchRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/search",
    validateSearch: readLabSearch,
    component: lazyPage(async () => (await import("./search-page.tsx")).SearchPage),
  }),
] as const;
