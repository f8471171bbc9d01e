import type { AccessDecision } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { post } from "./request.ts";

export interface AccessQuestion {
  readonly repository: string;
  readonly collection?: string | undefined;
  readonly document?: string | undefined;
  /** Absent: the caller. */
  readonly user?: { readonly user_id: string; readonly groups: readonly string[] } | undefined;
}

export function accessOptions(question: AccessQuestion | undefined) {
  return queryOptions({
    queryKey: ["access", question],
    queryFn: ({ signal }) => post<AccessDecision>("/v1/access:explain", question, { signal }),
    enabled: question !== undefined,
    // Groups and collections change, so the answer is never reused.
    staleTime: 0,
  });
}
