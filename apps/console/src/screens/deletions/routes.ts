import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const deletionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/deletions",
    component: lazyRouteComponent(() => import("./deletions-page.tsx"), "DeletionsPage"),
  }),
] as const;
