import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

export const homeRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/",
    /** The query, so that answers can be shared and restored. */
    validateSearch: (search: Record<string, unknown>): { readonly q?: string | undefined } => ({
      q: textParam(search["q"]),
    }),
    component: lazyPage(async () => (await import("./home-page.tsx")).HomePage),
  }),
] as const;
