import { type AuditOutcome, auditOutcomes, type AuditVerb, auditVerbs } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { numberParam, oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";
import { rangeSearch, type RangeSearch } from "../metrics/range.ts";

export interface AuditLogSearch extends RangeSearch {
  readonly actor?: string | undefined;
  readonly verb?: AuditVerb | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly resource?: string | undefined;
  /** Index of the open entry. */
  readonly entry?: number | undefined;
}

export const auditLogRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/audit-log",
    validateSearch: (search: Record<string, unknown>): AuditLogSearch => ({
      ...rangeSearch(search),
      actor: textParam(search["actor"]),
      verb: oneOfParam(search["verb"], auditVerbs),
      outcome: oneOfParam(search["outcome"], auditOutcomes),
      resource: textParam(search["resource"]),
      entry: numberParam(search["entry"]),
    }),
    component: lazyPage(async () => (await import("./audit-log-page.tsx")).AuditLogPage),
  }),
] as const;
