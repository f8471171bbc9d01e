import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const memoryRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/memories",
    component: lazyRouteComponent(() => import("./memories-page.tsx"), "MemoriesPage"),
  }),
] as const;
