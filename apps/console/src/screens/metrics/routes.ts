import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const metricRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/agent-metrics",
    component: lazyRouteComponent(() => import("./metrics-page.tsx"), "MetricsPage"),
  }),
] as const;
