/** Tick labels of a timeline, short enough for a phone and without duplicates. Pure. */
import type { Timeline } from "./timeline.ts";

const shares = [0, 0.25, 0.5, 0.75, 1];
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "short" });

export interface Tick {
  /** From 0 (start) to 1 (end). */
  readonly share: number;
  readonly label: string;
}

export function ticksOf({ from, to }: Pick<Timeline, "from" | "to">): readonly Tick[] {
  const format = day.format(from) === day.format(to) ? clock : dayAndClock;
  const all = shares.map((share) => ({ share, label: format.format(from + (to - from) * share) }));
  // Start and end have priority: labels between them that repeat one of them are dropped.
  const [first, last] = [all[0], all.at(-1)];
  return all.filter((tick, index) => {
    if (tick === first) return true;
    if (tick.label === first?.label) return false;
    return tick === last || (tick.label !== last?.label && tick.label !== all[index - 1]?.label);
  });
}
