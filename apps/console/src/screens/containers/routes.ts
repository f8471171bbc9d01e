import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const containerRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/containers",
    component: lazyRouteComponent(() => import("./containers-page.tsx"), "ContainersPage"),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/containers/$c",
    component: lazyRouteComponent(() => import("./container-page.tsx"), "ContainerPage"),
  }),
] as const;
