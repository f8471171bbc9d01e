/**
 * Data points of the GenAI metrics. A histogram of an interval becomes one row: the tokens of the interval, or the mean duration in
 * milliseconds, with the number of operations beside it as `operations`. Cumulative points say the same again and again, so they
 * cannot be kept as rows: exporters are asked for delta temporality.
 */
import { hash } from "node:crypto";
import type { MetricType, NewMetric } from "@pinakes/client";
import { Attributes } from "./attributes.ts";
import { agentOf, environmentOf, modelOf, nothing, sessionOf, timestampOf, type Mapped } from "./common.ts";
import type { KeyValue, OtlpMetric, OtlpPoint } from "./otlp-types.ts";

const mapped: Readonly<Record<string, MetricType>> = {
  "gen_ai.client.token.usage": "token_usage",
  "gen_ai.client.operation.duration": "latency",
  "gen_ai.server.request.duration": "latency",
  "gen_ai.client.cost": "cost",
  "gen_ai.usage.cost": "cost",
};

export interface MetricGroup {
  readonly resource: readonly KeyValue[];
  readonly metrics: readonly OtlpMetric[];
}

/** One for each data point. */
export function mapMetrics(groups: readonly MetricGroup[]): readonly Mapped[] {
  return groups.flatMap(({ resource, metrics }) => metrics.flatMap((metric) => mapMetric(metric, new Attributes(resource))));
}

/** Whether something would have been kept, had it not been cumulative. */
export function isCumulative({ name, sum, histogram, exponentialHistogram }: OtlpMetric): boolean {
  const { aggregationTemporality } = histogram ?? exponentialHistogram ?? sum ?? {};
  return Object.hasOwn(mapped, name ?? "") && aggregationTemporality !== undefined && !isDelta(aggregationTemporality);
}

function mapMetric(metric: OtlpMetric, resource: Attributes): readonly Mapped[] {
  const { name, gauge, sum, histogram, exponentialHistogram, summary } = metric;
  const type = Object.hasOwn(mapped, name ?? "") ? mapped[name ?? ""] : undefined;
  const intervals = histogram ?? exponentialHistogram;
  const points = (gauge ?? sum ?? intervals ?? summary)?.dataPoints ?? [];
  // A gauge is a value of its moment; the others must be of an interval.
  const keeps = isThere(gauge) || isDelta((sum ?? intervals)?.aggregationTemporality);
  return points.map((point) => (type !== undefined && keeps ? mapPoint(metric, type, point, resource) : nothing));
}

function mapPoint(metric: OtlpMetric, type: MetricType, point: OtlpPoint, resource: Attributes): Mapped {
  const own = new Attributes(point.attributes);
  const timestamp = timestampOf(point.timeUnixNano);
  const value = valueOf(metric, type, point);
  if (timestamp === undefined || value === undefined) return nothing;
  const identity = JSON.stringify([metric.name, resource.fingerprint(), own.fingerprint(), String(point.startTimeUnixNano), String(point.timeUnixNano)]);
  const operations = Number(point.count ?? 0);
  const row = {
    id: `otlp-${hash("sha256", identity, "base64url").slice(0, 32)}`,
    agent_id: agentOf(own) ?? agentOf(resource) ?? resource.text("service.name") ?? "unknown",
    metric_type: type,
    timestamp,
    value,
    dimensions: {
      session_id: sessionOf(own) ?? "",
      environment: environmentOf(resource),
      model: modelOf(own),
      tool_name: own.text("gen_ai.tool.name") ?? null,
    },
    ...(operations > 0 ? { operations } : {}),
  } as NewMetric;
  return { metrics: [row], tools: [] };
}

function valueOf({ unit, gauge, sum }: OtlpMetric, type: MetricType, point: OtlpPoint): number | undefined {
  const plain = isThere(gauge) || isThere(sum);
  const [total, count] = [Number(plain ? (point.asDouble ?? point.asInt ?? Number.NaN) : (point.sum ?? Number.NaN)), Number(point.count ?? 0)];
  if (!Number.isFinite(total) || (!plain && !(count > 0))) return undefined;
  if (type !== "latency") return total;
  return (plain ? total : total / count) * (unit === "ms" ? 1 : 1000);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isDelta(temporality: string | number | null | undefined): boolean {
  return temporality === 1 || temporality === "AGGREGATION_TEMPORALITY_DELTA";
}
