import type { ActivityPoint } from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { get } from "./request.ts";

export interface Stats {
  readonly points: readonly ActivityPoint[];
  /** Time of the request: the last step is incomplete. */
  readonly to: number;
  readonly stepSeconds: number;
}

export const statsRanges = ["1h", "24h", "7d"] as const;
export type StatsRange = (typeof statsRanges)[number];

/** Step sizes that give as many points as a chart can show. */
const spans: Readonly<
  Record<StatsRange, { readonly seconds: number; readonly stepSeconds: number; readonly againMs: number }>
> = {
  "1h": { seconds: 3_600, stepSeconds: 60, againMs: 10_000 },
  "24h": { seconds: 86_400, stepSeconds: 900, againMs: 30_000 },
  "7d": { seconds: 604_800, stepSeconds: 7_200, againMs: 60_000 },
};

export function statsOptions(range: StatsRange, enabled: boolean) {
  const { seconds, stepSeconds, againMs } = spans[range];
  return queryOptions({
    queryKey: ["stats", range],
    queryFn: async ({ signal }): Promise<Stats> => {
      const to = Date.now();
      const query = {
        from: new Date(to - seconds * 1000).toISOString(),
        to: new Date(to).toISOString(),
        step: stepSeconds,
      };
      const { points } = await get<Pick<Stats, "points">>("/v1/stats", { query, signal });
      return { points, to, stepSeconds };
    },
    refetchInterval: againMs,
    enabled,
  });
}
