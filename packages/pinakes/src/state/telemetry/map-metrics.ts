/**
 * Metric data points. Those of the GenAI conventions become rows of the fixed types; any other name becomes a custom type, in its
 * own unit, and point attributes become custom dimensions. A delta histogram becomes one row: the tokens of the
 * interval, or the mean (of durations in milliseconds), with the number of operations beside it as `operations`. Cumulative points repeat
 * totals, so they cannot be stored as rows: exporters are asked for delta temporality.
 */
import { hash } from "node:crypto";
import type { FixedMetricType, MetricType, NewMetric } from "@pinakes/client";
import { customLimits, fixedDimensions } from "../series/custom-names.ts";
import { Attributes } from "./attributes.ts";
import { agentOf, environmentOf, modelOf, nothing, sessionOf, timestampOf, type Mapped } from "./common.ts";
import type { KeyValue, OtlpMetric, OtlpPoint } from "./otlp-types.ts";

const mapped: Readonly<Record<string, FixedMetricType>> = {
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

/** One per data point. */
export function mapMetrics(groups: readonly MetricGroup[]): readonly Mapped[] {
  return groups.flatMap(({ resource, metrics }) =>
    metrics.flatMap((metric) => mapMetric(metric, new Attributes(resource))),
  );
}

/** Whether it would have been stored if it were not cumulative. */
export function isCumulative({ sum, histogram, exponentialHistogram }: OtlpMetric): boolean {
  const { aggregationTemporality } = histogram ?? exponentialHistogram ?? sum ?? {};
  return aggregationTemporality !== undefined && !isDelta(aggregationTemporality);
}

function mapMetric(metric: OtlpMetric, resource: Attributes): readonly Mapped[] {
  const { name, gauge, sum, histogram, exponentialHistogram, summary } = metric;
  const type = typeOf(name ?? "");
  const intervals = histogram ?? exponentialHistogram;
  const points = (gauge ?? sum ?? intervals ?? summary)?.dataPoints ?? [];
  // A gauge is an instantaneous value; the others must be of an interval.
  const keeps = isThere(gauge) || isDelta((sum ?? intervals)?.aggregationTemporality);
  return points.map((point) => (type !== undefined && keeps ? mapPoint(metric, type, point, resource) : nothing));
}

function typeOf(name: string): MetricType | undefined {
  if (Object.hasOwn(mapped, name)) return mapped[name];
  const plain = plainName(name);
  return plain === undefined ? undefined : `custom.${plain}`;
}

const hashCharacters = 8;

/** `http.server.duration` → `http_server_duration`. A name that is too long ends with a hash of the whole, so that no two collide. */
export function plainName(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  if (plain === "") return undefined;
  const named = /^[a-z]/.test(plain) ? plain : `n_${plain}`;
  const { nameCharactersMax } = customLimits;
  if (named.length <= nameCharactersMax) return named;
  return `${named.slice(0, nameCharactersMax - hashCharacters - 1)}_${hash("sha256", name, "hex").slice(0, hashCharacters)}`;
}

/** Attributes with these names are already fixed fields of a row. */
const fixedAttributes =
  /^(?:gen_ai\.(?:agent\.(?:id|name)|conversation\.id|(?:request|response)\.model|tool\.name)|llm\.request\.model|session\.id|thread\.id)$/;

/** The first sixteen by name; longer values are truncated. */
function dimensionsOf(own: Attributes): Readonly<Record<string, string>> {
  const { rowDimensionsMax, valueCharactersMax } = customLimits;
  const named = own.texts().flatMap(([key, value]) => {
    const plain = fixedAttributes.test(key) ? undefined : plainName(key);
    return plain === undefined || (fixedDimensions as readonly string[]).includes(plain)
      ? []
      : [[plain, value.slice(0, valueCharactersMax).toWellFormed()] as const];
  });
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, rowDimensionsMax));
}

function mapPoint(metric: OtlpMetric, type: MetricType, point: OtlpPoint, resource: Attributes): Mapped {
  const own = new Attributes(point.attributes);
  const timestamp = timestampOf(point.timeUnixNano);
  const value = valueOf(metric, type, point);
  if (timestamp === undefined || value === undefined) return nothing;
  const identity = JSON.stringify([
    metric.name,
    resource.fingerprint(),
    own.fingerprint(),
    String(point.startTimeUnixNano),
    String(point.timeUnixNano),
  ]);
  const operations = Number(point.count ?? 0);
  const isCustom = type.startsWith("custom.");
  const row = {
    id: `otlp-${hash("sha256", identity, "base64url").slice(0, 32)}`,
    agent_id: agentOf(own) ?? agentOf(resource) ?? resource.text("service.name") ?? "unknown",
    metric_type: type,
    timestamp,
    value,
    dimensions: {
      ...(isCustom ? dimensionsOf(own) : {}),
      session_id: sessionOf(own) ?? "",
      environment: environmentOf(resource),
      model: modelOf(own),
      tool_name: own.text("gen_ai.tool.name") ?? null,
    },
    ...(operations > 0 ? { operations } : {}),
    ...(isCustom && typeof metric.unit === "string" && metric.unit !== "" ? { unit: metric.unit } : {}),
  } as NewMetric;
  return { metrics: [row], tools: [] };
}

function valueOf({ unit, gauge, sum }: OtlpMetric, type: MetricType, point: OtlpPoint): number | undefined {
  const plain = isThere(gauge) || isThere(sum);
  const [total, count] = [
    Number(plain ? (point.asDouble ?? point.asInt ?? Number.NaN) : (point.sum ?? Number.NaN)),
    Number(point.count ?? 0),
  ];
  if (!Number.isFinite(total) || (!plain && !(count > 0))) return undefined;
  const value = plain || type === "token_usage" || type === "cost" ? total : total / count;
  return type === "latency" && unit !== "ms" ? value * 1000 : value;
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isDelta(temporality: string | number | null | undefined): boolean {
  return temporality === 1 || temporality === "AGGREGATION_TEMPORALITY_DELTA";
}
