import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const accessRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/access",
    component: lazyRouteComponent(() => import("./access-page.tsx"), "AccessPage"),
  }),
] as const;
