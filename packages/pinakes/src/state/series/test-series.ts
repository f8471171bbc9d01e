/** For tests: the two series on stores of the test's choice, with a clock moved by hand. */
import { WorkRegistry, workContainer } from "../../containers/index.ts";
import { makeCaller, type Caller } from "../../domain/caller.ts";
import { systemScope } from "../../domain/scope.ts";
import { openMemoryItems } from "../../drivers/memory/index.ts";
import { openMemoryObjects } from "../../drivers/memory-objects/index.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { stateTenant, stateWorkContainer, type StateWorkKind } from "../dependencies.ts";
import { settingsContainer } from "../settings.ts";
import type { HoursOptions } from "./aggregate/hours.ts";
import { Metrics } from "./metrics.ts";
import type { SeriesDependencies } from "./series.ts";
import { ToolLog } from "./tool-log.ts";

/** 2030-01-01T00:00:00Z */
export const testStart = Date.UTC(2030, 0, 1);

export class TestClock {
  at = testStart;
  now(): number {
    return this.at;
  }
}

export interface TestSeries {
  readonly clock: TestClock;
  readonly items: ItemStore;
  readonly objects: ObjectStore;
  readonly metrics: Metrics;
  readonly tools: ToolLog;
  readonly admin: Caller;
  readonly user: Caller;
  /** Of another workspace. */
  readonly stranger: Caller;
  readonly lines: string[];
  /** Does what is due now. */
  sweep(): Promise<number>;
  /** The same stores under other wrappers, as another process would have them. */
  again(
    stores?: Partial<Pick<SeriesDependencies, "items" | "objects">>,
    options?: HoursOptions,
  ): { readonly metrics: Metrics; readonly tools: ToolLog };
}

export async function openTestSeries(
  stores: { readonly clock?: TestClock; readonly items?: ItemStore; readonly objects?: ObjectStore } = {},
  options: HoursOptions = {},
): Promise<TestSeries> {
  const { clock = new TestClock() } = stores;
  const items = stores.items ?? (await openMemoryItems({ clock }));
  const objects = stores.objects ?? openMemoryObjects({ clock });
  const system = systemScope("tests of series", () => {});
  await items.openContainer(workContainer(stateWorkContainer));
  await items.openContainer(settingsContainer);
  const work = new WorkRegistry<StateWorkKind>({ items, system, container: stateWorkContainer, tenant: stateTenant });
  const lines: string[] = [];
  const deps: SeriesDependencies = { items, objects, clock, system, work, log: (line) => void lines.push(line) };
  const again: TestSeries["again"] = (others = {}, own = options) => {
    const theirs = { ...deps, ...others };
    return { metrics: new Metrics(theirs, own), tools: new ToolLog(theirs, own) };
  };
  const { metrics, tools } = again();
  await metrics.open();
  await tools.open();
  return {
    clock,
    items,
    objects,
    metrics,
    tools,
    admin: makeCaller({ tenant: "acme", userId: "root", role: "admin" }),
    user: makeCaller({ tenant: "acme", userId: "u1" }),
    stranger: makeCaller({ tenant: "zoo", userId: "u1", role: "admin" }),
    lines,
    sweep: async () => {
      let done = 0;
      for await (const entry of work.due(clock.now())) {
        await (entry.data?.["series"] === "tools" ? tools : metrics).process(entry);
        done += 1;
      }
      return done;
    },
    again,
  };
}
