import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

const governanceTabs = ["erasures", "holds", "retention", "exports"] as const;
export type GovernanceTab = (typeof governanceTabs)[number];

export interface GovernanceSearch {
  readonly tab?: GovernanceTab | undefined;
  /** The open erasure. */
  readonly erasure?: string | undefined;
}

export const governanceRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/governance",
    validateSearch: (search: Record<string, unknown>): GovernanceSearch => ({
      tab: oneOfParam(search["tab"], governanceTabs),
      erasure: textParam(search["erasure"]),
    }),
    component: lazyPage(async () => (await import("./governance-page.tsx")).GovernancePage),
  }),
] as const;
