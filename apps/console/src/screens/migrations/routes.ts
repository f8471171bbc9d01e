import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const migrationRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/migrations",
    component: lazyRouteComponent(() => import("./migrations-page.tsx"), "MigrationsPage"),
  }),
] as const;
