import { cx } from "../../lib/class-names.ts";
import { formatDateTime, formatMs } from "../../lib/format.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import type { Entry, Timeline } from "./timeline.ts";

const s = workflowStrings.timeline;

/** Entries without duration stay visible. */
const widthPercentMin = 0.6;

const tones: Readonly<Record<string, string>> = {
  completed: "bg-good",
  failed: "bg-bad",
  cancelled: "bg-warn",
  paused: "bg-warn",
  skipped: "bg-soft",
};

export function TimelineDrawing({
  timeline,
  name,
  now,
}: {
  readonly timeline: Timeline;
  readonly name: string;
  readonly now: number;
}) {
  const { lanes, from, to } = timeline;
  const length = Math.max(to - from, 1);
  const percentOf = (at: number) => ((at - from) / length) * 100;
  return (
    <div
      role="img"
      aria-label={s.label(name)}
      className="grid grid-cols-[minmax(5rem,9rem)_1fr] gap-x-3 gap-y-1.5 text-xs"
    >
      {lanes.map((lane) => (
        <div key={lane.key} className="contents">
          <span className="truncate leading-6 text-soft" title={lane.label}>
            {lane.label}
          </span>
          <div className="relative h-6 rounded bg-raised">
            {lane.entries.map((entry) => (
              <Mark key={entry.key} entry={entry} percentOf={percentOf} now={now} />
            ))}
            {lane.entries.every((one) => one.from === undefined) && (
              <span className="px-2 leading-6 text-soft">{s.notStarted}</span>
            )}
          </div>
        </div>
      ))}
      <span />
      <div className="relative h-5 text-soft">
        {ticksOf(timeline).map(({ share, label }) => (
          <span
            key={share}
            className={cx(
              "absolute whitespace-nowrap",
              share !== 0 && share !== 1 && "hidden -translate-x-1/2 xl:inline",
              share === 1 && "-translate-x-full",
            )}
            style={{ left: `${share * 100}%` }}
          >
            {label}
          </span>
        ))}
      </div>
    </div>
  );
}

interface MarkProps {
  readonly entry: Entry;
  readonly percentOf: (at: number) => number;
  readonly now: number;
}

function Mark({ entry: { from, to, what, status }, percentOf, now }: MarkProps) {
  if (from === undefined) return null;
  const words = [what, status, formatDateTime(from)].filter((word) => word !== undefined).join(" · ");
  if (from === to) {
    return (
      <span
        title={words}
        className="absolute top-1 size-4 -translate-x-1/2 rotate-45 rounded-sm border-2 border-panel bg-brand"
        style={{ left: `${percentOf(from)}%` }}
      />
    );
  }
  const end = to ?? now;
  const width = Math.max(percentOf(end) - percentOf(from), widthPercentMin);
  return (
    <span
      title={`${words} · ${formatMs(end - from)}`}
      className={cx(
        "absolute top-1 h-4 rounded-sm",
        (to !== undefined && tones[status ?? ""]) || "bg-brand",
        to === undefined && "opacity-70",
      )}
      style={{ left: `${Math.min(percentOf(from), 100 - width)}%`, width: `${width}%` }}
    />
  );
}

/** Tick labels of a timeline, short enough for a phone and without duplicates. Pure. */
const shares = [0, 0.25, 0.5, 0.75, 1];
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "short" });

interface Tick {
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
