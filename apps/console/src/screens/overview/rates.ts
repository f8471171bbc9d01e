/** Converts counts per step to rates, which are comparable across step sizes. */
import type { Stats } from "../../api/stats.ts";

export interface RatePoint {
  readonly at: string;
  readonly uploads: number;
  readonly indexed: number;
  readonly failed: number;
  readonly searches: number;
  readonly bytes: number;
  /** Per search; null without searches. */
  readonly search_ms: number | null;
  readonly [more: string]: string | number | null;
}

/** Minimum duration of the current step: a step that just started would fluctuate with every search. */
const stepSecondsMin = 15;

export function ratesOf({ points, to, stepSeconds }: Stats): readonly RatePoint[] {
  return points.map((point) => {
    const passed = Math.min(stepSeconds, Math.max(stepSecondsMin, (to - Date.parse(point.at)) / 1000));
    const rate = (count: number) => (count * 60) / passed;
    return {
      at: point.at,
      uploads: rate(point.uploads),
      indexed: rate(point.documents_indexed),
      failed: rate(point.documents_failed),
      searches: rate(point.searches),
      bytes: rate(point.upload_bytes),
      search_ms: point.searches === 0 ? null : point.search_ms / point.searches,
    };
  });
}
