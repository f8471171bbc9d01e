/** Health and properties of the whole server. */
import type { ServerStatus } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { ProblemError } from "./problem.ts";
import { get } from "./request.ts";

export interface Readiness {
  readonly ready: boolean;
  /** Store → reason. */
  readonly reasons: Readonly<Record<string, string>>;
  readonly warnings: Readonly<Record<string, string>>;
}

const againMs = 15_000;

export const readinessOptions = queryOptions({
  queryKey: ["health", "ready"],
  queryFn: ({ signal }) => readiness(signal),
  refetchInterval: againMs,
});

export const infoOptions = queryOptions({
  queryKey: ["health", "info"],
  queryFn: ({ signal }) => get<ServerStatus>("/v1/info", { signal }),
  refetchInterval: againMs,
});

/** "Not ready" (503) is an answer with reasons; only a missing response is an error. */
async function readiness(signal: AbortSignal): Promise<Readiness> {
  try {
    const { warnings } = await get<{ readonly warnings: Readiness["warnings"] }>("/readyz", { signal });
    return { ready: true, reasons: {}, warnings };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 503) throw error;
    const { reasons, warnings } = error.problem as Partial<Readiness>;
    return { ready: false, reasons: reasons ?? { server: error.message }, warnings: warnings ?? {} };
  }
}
