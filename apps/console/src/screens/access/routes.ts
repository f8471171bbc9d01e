import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { listParam, oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

const accessTabs = ["keys", "groups", "test"] as const;
export type AccessTab = (typeof accessTabs)[number];

export interface AccessSearch {
  readonly tab?: AccessTab | undefined;
  /** The query of the access tester. */
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly repository?: string | undefined;
  readonly collection?: string | undefined;
  readonly document?: string | undefined;
}

export const accessRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/access",
    validateSearch: (search: Record<string, unknown>): AccessSearch => ({
      tab: oneOfParam(search["tab"], accessTabs),
      user: textParam(search["user"]),
      groups: listParam(search["groups"]),
      repository: textParam(search["repository"]),
      collection: textParam(search["collection"]),
      document: textParam(search["document"]),
    }),
    component: lazyPage(async () => (await import("./access-page.tsx")).AccessPage),
  }),
] as const;
