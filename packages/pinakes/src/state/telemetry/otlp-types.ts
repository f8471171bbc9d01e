/** The supported parts of OTLP in JSON form; protobuf is converted to the same form. */
import { z } from "zod";

/** 64-bit integers are strings in JSON, numbers from lenient senders. */
const big = z.union([z.string(), z.number()]).nullish();
const id = z.union([z.string(), z.instanceof(Uint8Array)]).nullish();
const list = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .array(schema)
    .nullish()
    .transform((values) => values ?? []);

export interface AnyValue {
  readonly stringValue?: string | null | undefined;
  readonly boolValue?: boolean | null | undefined;
  readonly intValue?: string | number | null | undefined;
  readonly doubleValue?: string | number | null | undefined;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] | null | undefined } | null | undefined;
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] | null | undefined } | null | undefined;
  readonly bytesValue?: string | Uint8Array | null | undefined;
}
export interface KeyValue {
  readonly key?: string | null | undefined;
  readonly value?: AnyValue | null | undefined;
}

/** Converted value by value (attributes.ts), which skips invalid ones. */
const attributes = list(z.custom<KeyValue>((value) => typeof value === "object" && value !== null));
const resource = z.object({ attributes }).nullish();

const event = z.object({ name: z.string().nullish(), attributes });
const span = z.object({
  traceId: id,
  spanId: id,
  parentSpanId: id,
  name: z.string().nullish(),
  startTimeUnixNano: big,
  endTimeUnixNano: big,
  attributes,
  events: list(event),
  status: z.object({ code: z.union([z.number(), z.string()]).nullish(), message: z.string().nullish() }).nullish(),
});
export const tracesSchema = z.object({
  resourceSpans: list(z.object({ resource, scopeSpans: list(z.object({ spans: list(span) })) })),
});

const point = z.object({
  attributes,
  startTimeUnixNano: big,
  timeUnixNano: big,
  asDouble: z.union([z.number(), z.string()]).nullish(),
  asInt: big,
  count: big,
  sum: z.union([z.number(), z.string()]).nullish(),
});
const temporality = z.union([z.number(), z.string()]).nullish();
const points = z.object({ dataPoints: list(point), aggregationTemporality: temporality }).nullish();
const metric = z.object({
  name: z.string().nullish(),
  unit: z.string().nullish(),
  gauge: points,
  sum: points,
  histogram: points,
  exponentialHistogram: points,
  summary: points,
});
export const metricsSchema = z.object({
  resourceMetrics: list(z.object({ resource, scopeMetrics: list(z.object({ metrics: list(metric) })) })),
});

const logRecord = z.object({
  timeUnixNano: big,
  observedTimeUnixNano: big,
  eventName: z.string().nullish(),
  attributes,
  traceId: id,
  spanId: id,
});
export const logsSchema = z.object({
  resourceLogs: list(z.object({ resource, scopeLogs: list(z.object({ logRecords: list(logRecord) })) })),
});

export type OtlpSpan = z.output<typeof span>;
export type OtlpMetric = z.output<typeof metric>;
export type OtlpPoint = z.output<typeof point>;
export type OtlpLogRecord = z.output<typeof logRecord>;
