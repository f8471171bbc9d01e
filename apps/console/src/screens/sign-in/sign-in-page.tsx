/** The printed link ends in #token=…: fragments are never sent to a server, and so never logged. */
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { signIn } from "../../api/identity.ts";
import { isProblem } from "../../api/problem.ts";
import { forgetEverything } from "../../app/forget.ts";
import { shellStrings } from "../../strings/shell.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { useWindowTitle } from "../../ui/window-title.ts";

const s = shellStrings.signIn;
const route = getRouteApi("/sign-in");

export function SignInPage() {
  const { next, ended } = route.useSearch();
  const router = useRouter();
  const [token, setToken] = useState("");
  useWindowTitle(s.title);
  const tried = useRef(false);
  const signing = useMutation({
    mutationFn: signIn,
    onSuccess: async () => {
      forgetEverything();
      await router.navigate({ href: next ?? "/", replace: true });
    },
  });
  useEffect(() => {
    const linked = new URLSearchParams(location.hash.slice(1)).get("token");
    if (linked === null || tried.current) return;
    tried.current = true;
    // The token works once, and must not stay in the browser history.
    history.replaceState(history.state, "", `${location.pathname}${location.search}`);
    signing.mutate(linked);
  }, [signing]);
  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <form
        className="flex w-full max-w-md flex-col gap-4 rounded-lg border bg-panel p-6"
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== "") signing.mutate(token.trim());
        }}
      >
        <div className="flex items-center gap-3">
          <img src="/icon.svg" alt="" className="size-9" />
          <div>
            <h1 className="text-lg font-semibold">{shellStrings.product}</h1>
            <p className="text-sm text-soft">{shellStrings.tagline}</p>
          </div>
        </div>
        {ended === true && <p className="rounded-md bg-warn-soft p-3 text-sm text-warn">{s.ended}</p>}
        <p className="text-sm">{s.about}</p>
        <TextField
          label={s.token}
          type="password"
          value={token}
          onChange={({ target }) => setToken(target.value)}
          hint={s.where}
          autoComplete="off"
        />
        {signing.error !== null && (
          <ErrorBox error={isProblem(signing.error, 401) ? new Error(s.refused) : signing.error} />
        )}
        <Button type="submit" look="main" className="justify-center" disabled={signing.isPending}>
          {signing.isPending ? s.checking : s.submit}
        </Button>
      </form>
    </main>
  );
}
