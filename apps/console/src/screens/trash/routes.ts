import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const trashRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/trash",
    component: lazyRouteComponent(() => import("./trash-page.tsx"), "TrashPage"),
  }),
] as const;
