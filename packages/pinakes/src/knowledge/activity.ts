/**
 * Activity of a workspace over time: counted in memory, added to one item per minute every few seconds. Not for billing: a crash loses what
 * was not yet written.
 */
import { activityFigures, type ActivityFigure, type ActivityPoint } from "@pinakes/client";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { hasCode, PinakesError, invalid, show } from "../domain/errors.ts";
import { days } from "../containers/index.ts";
import type { Scope } from "../domain/scope.ts";
import type { ContainerDefinition } from "../ports/item-store.ts";
import { everyPage } from "../containers/every-item.ts";
import { dayMs } from "./limits.ts";
import type { KnowledgeDependencies } from "./dependencies.ts";

export const activityContainer: ContainerDefinition = Object.freeze({
  name: "knowledge-activity",
  partitionKey: ["day"],
  ttl: days(90),
});

type Figures = Readonly<Record<ActivityFigure, number>>;

const minuteMs = 60_000;
const pointsMax = 1_500;
const spanMsMax = 31 * dayMs;

export class Activity {
  readonly #deps: Pick<KnowledgeDependencies, "items" | "clock" | "log">;
  #waiting = new Map<
    string,
    { readonly scope: Scope; readonly minute: number; readonly figures: Record<ActivityFigure, number> }
  >();

  constructor(deps: Pick<KnowledgeDependencies, "items" | "clock" | "log">) {
    this.#deps = deps;
  }

  add(scope: Scope, counted: Partial<Figures>): void {
    const minute = Math.floor(this.#deps.clock.now() / minuteMs);
    const key = `${scope.tenant} ${minute}`;
    const entry = this.#waiting.get(key) ?? { scope, minute, figures: none() };
    for (const figure of activityFigures) entry.figures[figure] += counted[figure] ?? 0;
    this.#waiting.set(key, entry);
  }

  /** Writes the counts since the last flush. Counts that cannot be written are kept for the next flush. */
  async flush(): Promise<void> {
    const entries = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (const entry of entries) {
      try {
        await this.#write(entry.scope, entry.minute, entry.figures);
      } catch (error) {
        this.add(entry.scope, entry.figures);
        this.#deps.log(`activity could not be written: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  /** Sums per step; the last hour by minutes by default. */
  async read(
    caller: Caller,
    query: { from?: string | undefined; to?: string | undefined; step?: number | undefined } = {},
  ): Promise<readonly ActivityPoint[]> {
    const scope = requireCaller(caller);
    if (caller.role === "user")
      throw new PinakesError("FORBIDDEN", "Only admins can read the activity of a workspace.");
    const { from, to, stepMs } = checkSpan(query, this.#deps.clock.now());
    const points = new Map<number, Record<ActivityFigure, number>>();
    for (let at = from; at < to; at += stepMs) points.set(at, none());
    for (let day = Math.floor(from / dayMs); day * dayMs < to; day += 1) {
      for (const { minute, figures: counted } of await this.#day(scope, day)) {
        const at = minute * minuteMs;
        const point = at >= from && at < to ? points.get(from + Math.floor((at - from) / stepMs) * stepMs) : undefined;
        if (point !== undefined) for (const figure of activityFigures) point[figure] += counted[figure];
      }
    }
    return [...points].map(([at, counted]) => ({ at: new Date(at).toISOString(), ...counted }));
  }

  async #day(scope: Scope, day: number): Promise<readonly { minute: number; figures: Figures }[]> {
    const found: { minute: number; figures: Figures }[] = [];
    for await (const page of everyPage(this.#deps.items, scope, activityContainer.name, {
      equals: { day: dayOf(day * dayMs) },
      limit: 1_000,
    })) {
      for (const { document } of page.items)
        found.push({ minute: document["minute"] as number, figures: document["figures"] as unknown as Figures });
    }
    return found;
  }

  async #write(scope: Scope, minute: number, counted: Record<ActivityFigure, number>): Promise<void> {
    const day = dayOf(minute * minuteMs);
    const id = String(minute);
    const steps = activityFigures
      .filter((figure) => counted[figure] !== 0)
      .map((figure) => ({ op: "incr" as const, path: `/figures/${figure}`, value: counted[figure] }));
    for (;;) {
      try {
        await this.#deps.items.write(scope, activityContainer.name, [day], { op: "patch", id, patch: steps });
        return;
      } catch (error) {
        if (!hasCode(error, "NOT_FOUND")) throw error;
      }
      try {
        await this.#deps.items.write(scope, activityContainer.name, [day], {
          op: "create",
          document: { id, day, minute, figures: none() },
        });
      } catch (error) {
        // Another process created the item of this minute first.
        if (!hasCode(error, "CONFLICT")) throw error;
      }
    }
  }
}

function checkSpan(
  { from, to, step = 60 }: { from?: string | undefined; to?: string | undefined; step?: number | undefined },
  now: number,
) {
  if (!Number.isInteger(step) || step < 60 || step % 60 !== 0)
    throw invalid(`step: must be seconds, a multiple of 60, got ${show(step)}.`);
  const stepMs = step * 1000;
  const end = timeOf(to, "to") ?? now;
  const begin = Math.floor((timeOf(from, "from") ?? end - 60 * minuteMs) / stepMs) * stepMs;
  if (begin >= end) throw invalid("from: must be before to.");
  if (end - begin > spanMsMax) throw invalid("from: at most 31 days before to.");
  if ((end - begin) / stepMs > pointsMax)
    throw invalid(`step: results in more than ${pointsMax} points; use a longer step.`);
  return { from: begin, to: end, stepMs };
}

function timeOf(text: string | undefined, where: string): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw invalid(`${where}: must be a time such as 2030-01-01T00:00:00Z, got ${show(text)}.`);
  return time;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

function none(): Record<ActivityFigure, number> {
  return { searches: 0, search_ms: 0, uploads: 0, upload_bytes: 0, documents_indexed: 0, documents_failed: 0 };
}
