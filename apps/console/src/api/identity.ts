import type { Me } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { get, keepCsrfToken, post, request } from "./request.ts";

export const meOptions = queryOptions({
  queryKey: ["me"],
  queryFn: async ({ signal }) => {
    const me = await get<Me>("/v1/me", { signal });
    keepCsrfToken(me.csrf_token);
    return me;
  },
  staleTime: Infinity,
  retry: false,
});

export async function signIn(token: string): Promise<void> {
  const { csrf_token } = await post<{ readonly csrf_token: string }>("/v1/sessions", { token }, { secret: true });
  keepCsrfToken(csrf_token);
}

export async function signOut(): Promise<void> {
  await request("DELETE", "/v1/sessions");
  keepCsrfToken(undefined);
}
