/** The two root layouts: the shell for signed-in users, and the bare one of the sign-in page. */
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

/** Parent of all screens: redirects to sign-in without a session, and back afterwards. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "shell",
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(meOptions);
    } catch (error) {
      // oxlint-disable-next-line typescript/only-throw-error -- the router redirects by a thrown value
      if (isProblem(error, 401)) throw redirect({ to: "/sign-in", search: { next: location.href } });
      throw error;
    }
  },
  component: Shell,
  errorComponent: ShellError,
});

/** Not a reload: while the server is down, the browser would show its own error page, which does not recover. */
function ShellError({ error }: { readonly error: unknown }) {
  const router = useRouter();
  useEffect(() => onHealed(() => void router.invalidate()), [router]);
  return (
    <div className="mx-auto max-w-xl p-8">
      <ErrorBox error={error} onRetry={() => void router.invalidate()} />
    </div>
  );
}
