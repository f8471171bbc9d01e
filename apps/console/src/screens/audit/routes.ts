import { type FindingKind, findingKinds } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

export interface AuditSearch {
  readonly job?: string | undefined;
  readonly kind?: FindingKind | undefined;
}

export const auditRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/audit",
    validateSearch: (search: Record<string, unknown>): AuditSearch => ({
      job: textParam(search["job"]),
      kind: oneOfParam(search["kind"], findingKinds),
    }),
    component: lazyPage(async () => (await import("./audit-page.tsx")).AuditPage),
  }),
] as const;
