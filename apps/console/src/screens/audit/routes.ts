import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const auditRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/audit",
    component: lazyRouteComponent(() => import("./audit-page.tsx"), "AuditPage"),
  }),
] as const;
