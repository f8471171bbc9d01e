/** Metrics of agents over time. */
import { randomUUID } from "node:crypto";
import type {
  AggregateResult,
  IngestOptions,
  IngestResult,
  Metric,
  MetricAggregate,
  MetricNames,
  MetricQuery,
  NewMetric,
  Page,
  Paging,
  Rollup,
  Stored,
  TimeRange,
} from "@pinakes/client";
import type { RegisteredWork } from "../../containers/index.ts";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { Aggregates } from "./aggregate/aggregates.ts";
import { Hours, type HoursOptions } from "./aggregate/hours.ts";
import { Ingest, numberedLines, type IncomingLine } from "./ingest/ingest.ts";
import { chooseIndex } from "./list-choice.ts";
import { asStored, listRows } from "./list-rows.ts";
import { agentMetrics, metricIndexes, metricSeries } from "./metric-document.ts";
import { admitNames, forgetName, listNames } from "./metric-names.ts";
import { prepareRow } from "./ingest/prepare-row.ts";
import { listRollups } from "./aggregate/rollups.ts";
import { Sealing } from "./aggregate/sealing.ts";
import type { SeriesDependencies } from "./series.ts";

export class Metrics {
  readonly #deps: SeriesDependencies;
  readonly #ingest: Ingest;
  readonly #hours: Hours;
  readonly #sealing: Sealing;
  readonly #aggregates: Aggregates;

  constructor(deps: SeriesDependencies, options: HoursOptions = {}) {
    this.#deps = deps;
    this.#ingest = new Ingest(deps.items, metricSeries);
    this.#hours = new Hours(deps, metricSeries, options);
    this.#aggregates = new Aggregates(deps, this.#hours);
    this.#sealing = new Sealing(deps, metricSeries, this.#hours);
  }

  async open(): Promise<void> {
    await this.#deps.items.openContainer(agentMetrics.definition);
  }

  async ingest(caller: Caller, metrics: readonly NewMetric[], options: IngestOptions = {}): Promise<IngestResult> {
    requireCaller(caller);
    return this.ingestLines(caller, numberedLines(metrics), options);
  }

  /** The same for lines read from a file, with their numbers. */
  async ingestLines(
    caller: Caller,
    lines: readonly IncomingLine[],
    options: IngestOptions = {},
  ): Promise<IngestResult> {
    const scope = requireCaller(caller);
    const now = this.#deps.clock.now();
    return this.#ingest.run({
      scope,
      lines,
      options,
      prepare: (value) => prepareRow(metricSeries, scope.tenant, value, now, randomUUID),
      admit: (rows, allOrNothing) => admitNames({ items: this.#deps.items, scope, allOrNothing }, rows),
      announce: (rows) => this.#sealing.announce(scope, rows),
    });
  }

  async list(caller: Caller, query: MetricQuery = {}): Promise<Page<Stored<Metric>>> {
    const scope = requireCaller(caller);
    const { agent_id, metric_type } = query;
    const choice = chooseIndex(scope.tenant, metricSeries, { agent_id, metric_type }, metricIndexes);
    const { items, cursor } = await listRows(this.#deps.items, scope, metricSeries, choice, query);
    return { items: items.map((item) => asStored<Stored<Metric>>(item)), next_cursor: cursor ?? null };
  }

  async aggregate(caller: Caller, query: MetricAggregate): Promise<AggregateResult> {
    return this.#aggregates.run(caller, query);
  }

  async rollups(caller: Caller, query: TimeRange & Paging = {}): Promise<Page<Rollup>> {
    const scope = requireCaller(caller);
    return listRollups(
      { items: this.#deps.items, series: metricSeries, hours: this.#hours, now: this.#deps.clock.now() },
      scope,
      query,
    );
  }

  async names(caller: Caller): Promise<MetricNames> {
    return listNames(this.#deps.items, requireCaller(caller));
  }

  /** Unregisters a name to make room for another; admins only. */
  async forgetName(caller: Caller, name: string): Promise<void> {
    requireCaller(caller);
    await forgetName(this.#deps.items, caller, name);
  }

  /** Processes due work. */
  async process(entry: RegisteredWork): Promise<void> {
    await this.#sealing.process(entry);
  }
}
