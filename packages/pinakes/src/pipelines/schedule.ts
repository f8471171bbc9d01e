/** Schedules of pipelines: cron with five fields, in UTC, so that no hour of the year is skipped or doubled. */
import { Cron } from "croner";
import { invalid, show } from "../domain/errors.ts";
import { pipelineLimits } from "./limits.ts";

/** `daily`: at two in the morning. */
const named: Readonly<Record<string, string>> = { daily: "0 2 * * *", hourly: "0 * * * *", weekly: "0 2 * * 1" };

export function readSchedule(text: unknown, nowMs: number): string {
  const form = `schedule: write five cron fields in UTC (minute hour day month weekday), such as "30 4 * * 1-5", or ${Object.keys(named).join(", ")}; got ${show(text)}.`;
  if (typeof text !== "string" || text.length > pipelineLimits.scheduleCharsMax) throw invalid(form);
  const pattern = Object.hasOwn(named, text) ? (named[text] as string) : text.trim().replaceAll(/\s+/g, " ");
  if (pattern.split(" ").length !== 5) throw invalid(form);
  let next: number | undefined;
  try {
    next = nextRunAt(pattern, nowMs);
  } catch (cause) {
    throw invalid(form, { cause });
  }
  if (next === undefined) throw invalid(`schedule: ${show(text)} never occurs.`);
  return pattern;
}

/** The next time after `afterMs`; undefined if there is none. */
export function nextRunAt(pattern: string, afterMs: number): number | undefined {
  return new Cron(pattern, { paused: true, timezone: "UTC", mode: "5-part" }).nextRun(new Date(afterMs))?.getTime();
}
