import { type JobStatus, jobStatuses } from "@pinakes/client";
import { createRoute } from "@tanstack/react-router";
import { shellRoute } from "../../app/root-route.tsx";
import { oneOfParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

const jobTabs = ["jobs", "queues"] as const;
export type JobTab = (typeof jobTabs)[number];

export interface JobSearch {
  readonly tab?: JobTab | undefined;
  readonly status?: JobStatus | undefined;
  readonly kind?: string | undefined;
  readonly q?: string | undefined;
  /** The open job. */
  readonly job?: string | undefined;
  readonly queue?: string | undefined;
}

export const jobRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: "/jobs",
    validateSearch: (search: Record<string, unknown>): JobSearch => ({
      tab: oneOfParam(search["tab"], jobTabs),
      status: oneOfParam(search["status"], jobStatuses),
      kind: textParam(search["kind"]),
      q: textParam(search["q"]),
      job: textParam(search["job"]),
      queue: textParam(search["queue"]),
    }),
    component: lazyPage(async () => (await import("./jobs-page.tsx")).JobsPage),
  }),
] as const;
