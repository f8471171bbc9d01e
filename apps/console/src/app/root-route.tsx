/** The two frames of all pages: one for those who are signed in, and the bare one of the sign-in page. */
import { createRootRoute, createRoute, redirect } from "@tanstack/react-router";
import { isProblem } from "../api/problem.ts";
import { meOptions } from "../api/identity.ts";
import { ErrorBox } from "../ui/states.tsx";
import { NotFound } from "./not-found.tsx";
import { queryClient } from "./query-client.ts";
import { Shell } from "./shell.tsx";

export const rootRoute = createRootRoute({ notFoundComponent: NotFound });

/** Parent of every screen: whoever is not signed in is sent to do so, and comes back to the same page. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meOptions);
    } catch (error) {
      // oxlint-disable-next-line typescript/only-throw-error -- this is how the router is told to go elsewhere
      if (isProblem(error, 401)) throw redirect({ to: "/sign-in", search: { next: location.href } });
      throw error;
    }
  },
  component: Shell,
  errorComponent: ({ error }) => (
    <div className="mx-auto max-w-xl p-8">
      <ErrorBox error={error} onRetry={() => location.reload()} />
    </div>
  ),
});
