import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";

export const documentRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/collections/$rid/$cid/documents/$did",
    component: lazyRouteComponent(() => import("./document-page.tsx"), "DocumentPage"),
  }),
] as const;
