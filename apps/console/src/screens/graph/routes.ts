import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const graphRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/graph",
    component: lazyRouteComponent(() => import("./graph-page.tsx"), "GraphPage"),
  }),
] as const;
