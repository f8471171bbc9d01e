import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "../../app/root-route.tsx";
import { flagParam, textParam } from "../../lib/search-params.ts";
import { lazyPage } from "../../ui/lazy-page.tsx";

export const signInRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/sign-in",
    validateSearch: (
      search: Record<string, unknown>,
    ): { readonly next?: string | undefined; readonly ended?: true | undefined } => ({
      next: ownPage(textParam(search["next"])),
      ended: flagParam(search["ended"]),
    }),
    component: lazyPage(async () => (await import("./sign-in-page.tsx")).SignInPage),
  }),
] as const;

/** After signing in, redirects only to paths of this server: prevents open redirects. */
function ownPage(next: string | undefined): string | undefined {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : undefined;
}
