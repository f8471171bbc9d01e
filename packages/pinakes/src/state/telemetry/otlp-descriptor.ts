/**
 * The messages of OTLP 1.x for protobufjs, in its JSON form: names and numbers of the fields that are read. Fields that are not here
 * are skipped while decoding, as protobuf has it.
 */
interface Field {
  readonly type: string;
  readonly id: number;
  readonly rule?: "repeated";
}

const one = (type: string, id: number): Field => ({ type, id });
const many = (type: string, id: number): Field => ({ type, id, rule: "repeated" });
const message = (fields: Readonly<Record<string, Field>>) => ({ fields });

const common = {
  AnyValue: message({
    stringValue: one("string", 1),
    boolValue: one("bool", 2),
    intValue: one("int64", 3),
    doubleValue: one("double", 4),
    arrayValue: one("ArrayValue", 5),
    kvlistValue: one("KeyValueList", 6),
    bytesValue: one("bytes", 7),
  }),
  ArrayValue: message({ values: many("AnyValue", 1) }),
  KeyValueList: message({ values: many("KeyValue", 1) }),
  KeyValue: message({ key: one("string", 1), value: one("AnyValue", 2) }),
  Resource: message({ attributes: many("KeyValue", 1) }),
};

const traces = {
  TracesRequest: message({ resourceSpans: many("ResourceSpans", 1) }),
  ResourceSpans: message({ resource: one("Resource", 1), scopeSpans: many("ScopeSpans", 2) }),
  ScopeSpans: message({ spans: many("Span", 2) }),
  Span: message({
    traceId: one("bytes", 1),
    spanId: one("bytes", 2),
    parentSpanId: one("bytes", 4),
    name: one("string", 5),
    startTimeUnixNano: one("fixed64", 7),
    endTimeUnixNano: one("fixed64", 8),
    attributes: many("KeyValue", 9),
    events: many("Event", 11),
    status: one("Status", 15),
  }),
  Event: message({ name: one("string", 2), attributes: many("KeyValue", 3) }),
  Status: message({ message: one("string", 2), code: one("int32", 3) }),
};

const metrics = {
  MetricsRequest: message({ resourceMetrics: many("ResourceMetrics", 1) }),
  ResourceMetrics: message({ resource: one("Resource", 1), scopeMetrics: many("ScopeMetrics", 2) }),
  ScopeMetrics: message({ metrics: many("Metric", 2) }),
  Metric: message({
    name: one("string", 1),
    unit: one("string", 3),
    gauge: one("Gauge", 5),
    sum: one("Sum", 7),
    histogram: one("Histogram", 9),
    exponentialHistogram: one("ExponentialHistogram", 10),
    summary: one("Summary", 11),
  }),
  Gauge: message({ dataPoints: many("NumberPoint", 1) }),
  Sum: message({ dataPoints: many("NumberPoint", 1), aggregationTemporality: one("int32", 2) }),
  Histogram: message({ dataPoints: many("HistogramPoint", 1), aggregationTemporality: one("int32", 2) }),
  ExponentialHistogram: message({ dataPoints: many("ExponentialPoint", 1), aggregationTemporality: one("int32", 2) }),
  Summary: message({ dataPoints: many("SummaryPoint", 1) }),
  NumberPoint: message({
    startTimeUnixNano: one("fixed64", 2),
    timeUnixNano: one("fixed64", 3),
    asDouble: one("double", 4),
    asInt: one("sfixed64", 6),
    attributes: many("KeyValue", 7),
  }),
  HistogramPoint: message({
    startTimeUnixNano: one("fixed64", 2),
    timeUnixNano: one("fixed64", 3),
    count: one("fixed64", 4),
    sum: one("double", 5),
    attributes: many("KeyValue", 9),
  }),
  ExponentialPoint: message({
    attributes: many("KeyValue", 1),
    startTimeUnixNano: one("fixed64", 2),
    timeUnixNano: one("fixed64", 3),
    count: one("fixed64", 4),
    sum: one("double", 5),
  }),
  SummaryPoint: message({
    timeUnixNano: one("fixed64", 3),
    count: one("fixed64", 4),
    sum: one("double", 5),
    attributes: many("KeyValue", 7),
  }),
};

const logs = {
  LogsRequest: message({ resourceLogs: many("ResourceLogs", 1) }),
  ResourceLogs: message({ resource: one("Resource", 1), scopeLogs: many("ScopeLogs", 2) }),
  ScopeLogs: message({ logRecords: many("LogRecord", 2) }),
  LogRecord: message({
    timeUnixNano: one("fixed64", 1),
    attributes: many("KeyValue", 6),
    traceId: one("bytes", 9),
    spanId: one("bytes", 10),
    observedTimeUnixNano: one("fixed64", 11),
    eventName: one("string", 12),
  }),
};

/** The three responses have the same form. */
const answers = {
  Answer: message({ partialSuccess: one("PartialSuccess", 1) }),
  PartialSuccess: message({ rejected: one("int64", 1), errorMessage: one("string", 2) }),
};

export const otlpDescriptor = { nested: { ...common, ...traces, ...metrics, ...logs, ...answers } };
