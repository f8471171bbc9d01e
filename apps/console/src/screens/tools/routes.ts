import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const toolRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/tools",
    component: lazyRouteComponent(() => import("./tools-page.tsx"), "ToolsPage"),
  }),
] as const;
