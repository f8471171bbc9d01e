/** Who is signed in. */
import { queryOptions } from "@tanstack/react-query";
import { get, keepCsrfToken, post, request } from "./request.ts";

export type Role = "user" | "repository_admin" | "admin";

export interface Me {
  readonly user_id: string;
  readonly workspace_id: string;
  readonly groups: readonly string[];
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly via: string;
  readonly csrf_token?: string;
  readonly expires_at?: string | null;
}

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
