import type { MetricType } from "@pinakes/client";
import { formatMs, formatNumber } from "../../lib/format.ts";

const short = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 4 });

/** A metric value with its unit: latency in milliseconds, cost in dollars, success rate as a ratio. */
export function metricFormat(type: MetricType): (value: number) => string {
  if (type === "latency") return formatMs;
  if (type === "cost") return (value) => dollars.format(value);
  if (type === "success_rate") return (value) => percent.format(value);
  return (value) => (Number.isInteger(value) ? formatNumber(value) : short.format(value));
}

/** A sum of ratios is not a ratio. */
export function figureFormat(type: MetricType, measure: string): (value: number) => string {
  if (measure === "count" || (type === "success_rate" && measure === "sum")) return (value) => short.format(value);
  return metricFormat(type);
}
