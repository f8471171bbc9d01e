import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const jobRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/jobs",
    component: lazyRouteComponent(() => import("./jobs-page.tsx"), "JobsPage"),
  }),
] as const;
