/** The two frames of all pages: one for those who are signed in, and the bare one of the sign-in page. */
import { createRootRoute, createRoute, redirect, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { onHealed } from "../api/connection.ts";
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
  errorComponent: ShellError,
});

/** Not a reload: while there is no server, the browser would show a page of its own, which does not come back. */
function ShellError({ error }: { readonly error: unknown }) {
  const router = useRouter();
  useEffect(() => onHealed(() => void router.invalidate()), [router]);
  return (
    <div className="mx-auto max-w-xl p-8">
      <ErrorBox error={error} onRetry={() => void router.invalidate()} />
    </div>
  );
}
