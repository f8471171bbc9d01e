/** All routes. A screen's routes file validates its search parameters and lazy-loads the page. */
import { createRouter } from "@tanstack/react-router";
import { meOptions } from "../api/identity.ts";
import { whenSignedOut } from "../api/request.ts";
import { accessRoutes } from "../screens/access/routes.ts";
import { auditLogRoutes } from "../screens/audit-log/routes.ts";
import { auditRoutes } from "../screens/audit/routes.ts";
import { collectionRoutes } from "../screens/collections/routes.ts";
import { containerRoutes } from "../screens/containers/routes.ts";
import { deletionRoutes } from "../screens/deletions/routes.ts";
import { documentRoutes } from "../screens/documents/routes.ts";
import { governanceRoutes } from "../screens/governance/routes.ts";
import { graphRoutes } from "../screens/graph/routes.ts";
import { homeRoutes } from "../screens/home/routes.ts";
import { jobRoutes } from "../screens/jobs/routes.ts";
import { memoryRoutes } from "../screens/memories/routes.ts";
import { metricRoutes } from "../screens/metrics/routes.ts";
import { migrationRoutes } from "../screens/migrations/routes.ts";
import { overviewRoutes } from "../screens/overview/routes.ts";
import { searchRoutes } from "../screens/search/routes.ts";
import { signInRoutes } from "../screens/sign-in/routes.ts";
import { toolRoutes } from "../screens/tools/routes.ts";
import { trashRoutes } from "../screens/trash/routes.ts";
import { workflowRoutes } from "../screens/workflows/routes.ts";
import { Loading } from "../ui/states.tsx";
import { NotFound } from "./not-found.tsx";
import { forgetEverything } from "./forget.ts";
import { queryClient } from "./query-client.ts";
import { rootRoute, shellRoute } from "./root-route.tsx";

const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  shellRoute.addChildren([
    ...homeRoutes,
    ...overviewRoutes,
    ...collectionRoutes,
    ...documentRoutes,
    ...trashRoutes,
    ...searchRoutes,
    ...graphRoutes,
    ...workflowRoutes,
    ...memoryRoutes,
    ...metricRoutes,
    ...toolRoutes,
    ...containerRoutes,
    ...jobRoutes,
    ...deletionRoutes,
    ...auditRoutes,
    ...auditLogRoutes,
    ...governanceRoutes,
    ...migrationRoutes,
    ...accessRoutes,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultPendingComponent: Loading,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

whenSignedOut(() => {
  // First-time visitors have no session that could expire: the shell route redirects them to sign in.
  if (queryClient.getQueryData(meOptions.queryKey) === undefined) return;
  forgetEverything();
  const { href, pathname } = router.state.location;
  if (pathname !== "/sign-in") void router.navigate({ to: "/sign-in", search: { next: href, ended: true } });
});
