import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

interface TrashSearch {
  readonly q?: string | undefined;
  /** The job of a purge. */
  readonly operation?: string | undefined;
}

export const trashRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/trash",
    validateSearch: (search: Record<string, unknown>): TrashSearch => ({
      q: textParam(search["q"]),
      operation: textParam(search["operation"]),
    }),
    component: lazyPage(async () => (await import("./trash-page.tsx")).TrashPage),
  }),
] as const;
