import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/",
    /** The question that was asked, so that its answers can be shared and come back with "back". */
    validateSearch: (search: Record<string, unknown>): { readonly q?: string | undefined } => ({
      q: textParam(search["q"]),
    }),
    component: lazyPage(async () => (await import("./home-page.tsx")).HomePage),
  }),
] as const;
