import type { MetricGroup, MetricType } from "@pinakes/client";
import { metricStrings as s } from "../../strings/metrics.ts";

export function typeLabel(type: MetricType): string {
  return isKnown(type, s.types) ? s.types[type] : s.custom(type.slice("custom.".length));
}

export function groupName(group: MetricGroup): string {
  return isKnown(group, s.groups) ? s.groups[group] : s.custom(group.slice("dimensions.".length));
}

function isKnown<Known extends object>(name: string, known: Known): name is Extract<keyof Known, string> {
  return Object.hasOwn(known, name);
}
