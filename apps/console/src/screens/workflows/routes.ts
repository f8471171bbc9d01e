import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const workflowRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/workflows",
    component: lazyRouteComponent(() => import("./workflows-page.tsx"), "WorkflowsPage"),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/workflows/$wid",
    component: lazyRouteComponent(() => import("./workflow-page.tsx"), "WorkflowPage"),
  }),
] as const;
