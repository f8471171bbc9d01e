/**
 * What is due of a series: an hour that is over is sealed; a day whose rows have all expired loses its blocks and companions. Both are
 * entries of state-work. They are hints: an aggregate seals what it needs itself, and a day that keeps rows is looked at again.
 */
import type { RegisteredWork } from "../../../containers/index.ts";
import { hasCode } from "../../../domain/errors.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { Operation } from "../../../ports/item-store.ts";
import { companionField } from "../../system-container.ts";
import { everyPage } from "../../../containers/every-item.ts";
import type { Hours } from "./hours.ts";
import { inParallel } from "../../../runtime/in-parallel.ts";
import { dayMs, seriesLimits, type Series, type SeriesDependencies } from "../series.ts";
import { hourStart, hourText } from "../time.ts";

/** What was announced by this process lately; forgetting costs one write each. */
const announcedMax = 10_000;
const announcedAtOnce = 8;
/** How often a day is checked whose rows outlive the container's time to live. */
const lookAgainMs = 30 * dayMs;
/** Clocks of several processes may differ. */
const graceMs = dayMs;
const companionsMax = 10;

export class Sealing {
  readonly #deps: SeriesDependencies;
  readonly #series: Series;
  readonly #hours: Hours;
  readonly #announced = new Set<string>();

  constructor(deps: SeriesDependencies, series: Series, hours: Hours) {
    this.#deps = deps;
    this.#series = series;
    this.#hours = hours;
  }

  /** Once per hour, and once per day, and process. */
  async announce(scope: Scope, rows: readonly { readonly date: string; readonly hour: number }[]): Promise<void> {
    const { items, work, clock } = this.#deps;
    const { name: series, container } = this.#series;
    const { seconds } = items.defaultTtl(scope, container);
    // Where nothing expires by default, single rows may.
    const keptMs = seconds === null || seconds === -1 ? lookAgainMs : seconds * 1000;
    const now = clock.now();
    const fresh = new Map<string, { readonly date: string; readonly hour: number | null; readonly due_at: number }>();
    for (const { date, hour } of rows) {
      const [ofHour, ofDay] = [announcedKey(scope, `${date}T${hourText(hour)}`), announcedKey(scope, date)];
      if (!this.#announced.has(ofHour))
        fresh.set(ofHour, { date, hour, due_at: Math.max(hourStart(date, hour + 1), now) + seriesLimits.sealDelayMs });
      if (!this.#announced.has(ofDay))
        fresh.set(ofDay, {
          date,
          hour: null,
          due_at: Math.max(hourStart(date, 24), now) + keptMs + graceMs,
        });
    }
    await inParallel([...fresh], announcedAtOnce, async ([key, { due_at, ...data }]) => {
      await work.put({
        kind: "seal",
        tenant: scope.tenant,
        key: keyOf(series, data.date, data.hour),
        due_at,
        data: { series, ...data },
      });
      if (this.#announced.size >= announcedMax) this.#announced.clear();
      this.#announced.add(key);
    });
  }

  async process(entry: RegisteredWork): Promise<void> {
    const { work, system, clock } = this.#deps;
    const { date, hour } = entry.data as { readonly date: string; readonly hour: number | null };
    const scope = system.forTenant(entry.tenant);
    if (hour !== null) {
      // Rows that come from now on announce it again.
      this.#announced.delete(announcedKey(scope, `${date}T${hourText(hour)}`));
      await this.#hours.seal(scope, date, hour);
    } else if (!(await this.#endDay(scope, date))) {
      await work.put({ ...entry, kind: "seal", due_at: clock.now() + lookAgainMs });
      return;
    }
    await work.remove({ ...entry, kind: "seal" });
  }

  /** Removes the leftovers of a day without rows; false if it has rows. */
  async #endDay(scope: Scope, date: string): Promise<boolean> {
    const { items } = this.#deps;
    const { container, dateField, name } = this.#series;
    const partition = { equals: { [dateField]: date } };
    for await (const rows of everyPage(items, scope, container, {
      ...partition,
      filter: { [companionField]: { exists: false } },
      limit: 1,
    })) {
      if (rows.items.length > 0) return false;
    }
    await this.#hours.blocks.deleteDay(scope, { series: name, date });
    this.#announced.delete(announcedKey(scope, date));
    const companions = await items.query(scope, container, {
      ...partition,
      range: { prefix: "~" },
      limit: companionsMax,
    });
    const deletes = companions.items.map(({ id, etag }): Operation => ({ op: "delete", id, ifMatch: etag }));
    try {
      if (deletes.length > 0) await items.batch(scope, container, [date], deletes);
      return true;
    } catch (error) {
      // Rows were added meanwhile.
      if (hasCode(error, "PRECONDITION_FAILED", "NOT_FOUND")) return false;
      throw error;
    }
  }
}

function announcedKey({ tenant }: Scope, what: string): string {
  return JSON.stringify([tenant, what]);
}

function keyOf(series: string, date: string, hour: number | null): string {
  return `${series}-${date}-${hour === null ? "end" : hourText(hour)}`;
}
