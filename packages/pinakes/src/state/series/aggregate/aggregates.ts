/** The aggregates of a series, with bounded concurrency; sealed hours are used where they exist. */
import type { AggregateResult, MetricAggregate, ToolAggregate } from "@pinakes/client";
import { requireCaller, type Caller } from "../../../domain/caller.ts";
import { KeyedQueue } from "../../../runtime/keyed-queue.ts";
import { seriesLimits, seriesOf, type SeriesDependencies } from "../series.ts";
import { planAggregate, runAggregate } from "./aggregate.ts";
import type { Hours } from "./hours.ts";

export class Aggregates {
  readonly #deps: SeriesDependencies;
  readonly #hours: Hours;
  readonly #gate = new KeyedQueue();
  #turn = 0;

  constructor(deps: SeriesDependencies, hours: Hours) {
    this.#deps = deps;
    this.#hours = hours;
  }

  async run(caller: Caller, query: MetricAggregate | ToolAggregate): Promise<AggregateResult> {
    const scope = requireCaller(caller);
    const { items, clock } = this.#deps;
    const plan = planAggregate(seriesOf(items, scope, this.#hours.series), query, clock.now());
    this.#turn = (this.#turn + 1) % seriesLimits.aggregatesAtOnceMax;
    const turn = String(this.#turn);
    const run = () => this.#gate.run([turn], () => runAggregate(this.#hours, scope, plan));
    return this.#deps.places?.queries.within(scope.tenant, run) ?? run();
  }
}
