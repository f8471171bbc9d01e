import { type OperationStatus, operationStatuses } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

export interface DeletionSearch {
  readonly status?: OperationStatus | undefined;
  readonly collection?: string | undefined;
  /** The open operation. */
  readonly operation?: string | undefined;
}

export const deletionRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/deletions",
    validateSearch: (search: Record<string, unknown>): DeletionSearch => ({
      status: oneOfParam(search["status"], operationStatuses),
      collection: textParam(search["collection"]),
      operation: textParam(search["operation"]),
    }),
    component: lazyPage(async () => (await import("./deletions-page.tsx")).DeletionsPage),
  }),
] as const;
