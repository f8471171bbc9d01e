import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const collectionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/collections",
    component: lazyRouteComponent(() => import("./collections-page.tsx"), "CollectionsPage"),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/collections/$rid/$cid",
    component: lazyRouteComponent(() => import("./collection-page.tsx"), "CollectionPage"),
  }),
] as const;
