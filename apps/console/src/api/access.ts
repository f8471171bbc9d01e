/** Why somebody may or may not see something. */
import { queryOptions } from "@tanstack/react-query";
import { post } from "./request.ts";

export interface AccessQuestion {
  readonly repository: string;
  readonly collection?: string | undefined;
  readonly document?: string | undefined;
  /** Absent: about oneself. */
  readonly user?: { readonly user_id: string; readonly groups: readonly string[] } | undefined;
}

export interface AccessDecision {
  /** null: not visible at all. */
  readonly level: "READ" | "WRITE" | "ADMIN" | null;
  readonly reason: string;
  /** The groups that opened it. */
  readonly groups: readonly string[];
  readonly document?: {
    readonly document_id: string;
    readonly status: string;
    readonly uploaded_by: string;
    readonly searchable: boolean;
  };
}

export function accessOptions(question: AccessQuestion | undefined) {
  return queryOptions({
    queryKey: ["access", question],
    queryFn: ({ signal }) => post<AccessDecision>("/v1/access:explain", question, { signal }),
    enabled: question !== undefined,
    // The answer is that of this moment: groups and collections change.
    staleTime: 0,
  });
}
