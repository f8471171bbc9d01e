import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const searchRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/search",
    component: lazyRouteComponent(() => import("./search-page.tsx"), "SearchPage"),
  }),
] as const;
