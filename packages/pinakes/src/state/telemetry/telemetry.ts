/** OpenTelemetry ingestion: spans, metrics and logs of agents become metrics and tool invocations. Data without a mapping is counted. */
import type { IngestResult, NewMetric } from "@pinakes/client";
import { type Caller, requireCaller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Metrics } from "../series/metrics.ts";
import { type SeriesDependencies, seriesLimits } from "../series/series.ts";
import type { ToolLog } from "../series/tool-log.ts";
import { Attributes } from "./attributes.ts";
import {
  agentOf,
  environmentOf,
  hexId,
  type Mapped,
  modelOf,
  nothing,
  sessionOf,
  timestampOf,
  tokensOf,
} from "./common.ts";
import { isCumulative, mapMetrics } from "./map-metrics.ts";
import { mapSpans } from "./map-spans.ts";
import {
  answerJson,
  answerProtobuf,
  decodeRequest,
  type OtlpRequest,
  type PartialSuccess,
  type Signal,
} from "./otlp-codec.ts";
import { type KeyValue, logsSchema, metricsSchema, type OtlpLogRecord, tracesSchema } from "./otlp-types.ts";

export interface OtlpAnswer {
  readonly contentType: "application/json" | "application/x-protobuf";
  /** For the JSON response; the protobuf one has the same content. */
  readonly json: ReturnType<typeof answerJson>;
  readonly bytes: Uint8Array;
}

export class Telemetry {
  readonly #into: { readonly metrics: Metrics; readonly tools: ToolLog };

  constructor(_parts: Partial<SeriesDependencies>, into: { readonly metrics: Metrics; readonly tools: ToolLog }) {
    this.#into = into;
  }

  /** Stateless. */
  async open(): Promise<void> {}

  async traces(caller: Caller, ...request: OtlpRequest): Promise<OtlpAnswer> {
    requireCaller(caller);
    const { resourceSpans } = await decodeRequest("traces", tracesSchema, request);
    const groups = resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.map(({ spans }) => ({ resource: resource?.attributes ?? [], spans })),
    );
    return this.#keep(
      caller,
      "traces",
      request[1],
      mapSpans(groups),
      "spans whose gen_ai.operation.name is none of chat, text_completion, generate_content, invoke_agent, execute_tool",
    );
  }

  async metrics(caller: Caller, ...request: OtlpRequest): Promise<OtlpAnswer> {
    requireCaller(caller);
    const { resourceMetrics } = await decodeRequest("metrics", metricsSchema, request);
    const groups = resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
      scopeMetrics.map(({ metrics }) => ({ resource: resource?.attributes ?? [], metrics })),
    );
    const cumulative = groups.some(({ metrics }) => metrics.some(isCumulative));
    const hint = cumulative
      ? "cumulative points (set OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta), summaries, or points without a value"
      : "points without a value, a time or a name, or summaries";
    return this.#keep(caller, "metrics", request[1], mapMetrics(groups), hint);
  }

  async logs(caller: Caller, ...request: OtlpRequest): Promise<OtlpAnswer> {
    requireCaller(caller);
    const { resourceLogs } = await decodeRequest("logs", logsSchema, request);
    const groups = resourceLogs.flatMap(({ resource, scopeLogs }) =>
      scopeLogs.map(({ logRecords }) => ({ resource: resource?.attributes ?? [], logRecords })),
    );
    return this.#keep(caller, "logs", request[1], mapLogs(groups), "records without the details of an inference");
  }

  async #keep(
    caller: Caller,
    signal: Signal,
    contentType: string,
    mapped: readonly Mapped[],
    unmapped: string,
  ): Promise<OtlpAnswer> {
    const rejected = mapped.filter(({ metrics, tools }) => metrics.length + tools.length === 0).length;
    const refusals = [
      ...(await inParts(
        mapped.flatMap(({ metrics }) => metrics),
        (part) => this.#into.metrics.ingest(caller, part),
      )),
      ...(await inParts(
        mapped.flatMap(({ tools }) => tools),
        (part) => this.#into.tools.ingest(caller, part),
      )),
    ];
    const partial = partialSuccess(rejected, unmapped, refusals);
    const json = answerJson(signal, partial);
    if (contentType === "application/json")
      return { contentType, json, bytes: Buffer.from(JSON.stringify(json), "utf8") };
    return { contentType: "application/x-protobuf", json, bytes: await answerProtobuf(partial) };
  }
}

/** A description of what was rejected. A row with an existing id and other content is not: two senders may report the same operation. */
async function inParts<Row>(
  rows: readonly Row[],
  ingest: (part: readonly Row[]) => Promise<IngestResult>,
): Promise<readonly string[]> {
  const refusals: string[] = [];
  for (let at = 0; at < rows.length; at += seriesLimits.ingestLinesMax) {
    const { lines } = await ingest(rows.slice(at, at + seriesLimits.ingestLinesMax));
    // Ids are derived from the spans, so an exporter may retry the whole request.
    const trouble = lines.find(({ error }) => error?.code === "UNAVAILABLE" || error?.code === "THROTTLED")?.error;
    if (trouble !== undefined) throw new PinakesError("UNAVAILABLE", trouble.detail);
    refusals.push(
      ...lines.flatMap(({ error }) => (error === undefined || error.code === "CONFLICT" ? [] : [error.detail])),
    );
  }
  return refusals;
}

function partialSuccess(rejected: number, unmapped: string, refusals: readonly string[]): PartialSuccess | undefined {
  if (rejected + refusals.length === 0) return undefined;
  const told = [
    ...(rejected === 0 ? [] : [`not kept: ${rejected} ${unmapped}`]),
    ...(refusals.length === 0 ? [] : [`refused: ${refusals[0] ?? ""}`]),
  ];
  return { rejected: rejected + refusals.length, errorMessage: told.join("; ") };
}

/**
 * Log records: only the event with the details of an inference, for its tokens. Its row has the same id as that of its span, so
 * that a sender of both is counted once.
 */
const inferenceDetails = "gen_ai.client.inference.operation.details";

interface LogGroup {
  readonly resource: readonly KeyValue[];
  readonly logRecords: readonly OtlpLogRecord[];
}

/** In the order of the records. */
function mapLogs(groups: readonly LogGroup[]): readonly Mapped[] {
  return groups.flatMap(({ resource, logRecords }) =>
    logRecords.map((record) => mapLog(record, new Attributes(resource))),
  );
}

function mapLog(record: OtlpLogRecord, resource: Attributes): Mapped {
  const own = new Attributes(record.attributes);
  const [trace, span] = [hexId(record.traceId), hexId(record.spanId)];
  const timestamp = timestampOf(record.timeUnixNano) ?? timestampOf(record.observedTimeUnixNano);
  const tokens = tokensOf(own);
  const isDetails = record.eventName === inferenceDetails || own.text("event.name") === inferenceDetails;
  if (!isDetails || tokens === undefined || trace === undefined || span === undefined || timestamp === undefined)
    return nothing;
  const row = {
    id: `otlp-${trace}-${span}-token_usage`,
    agent_id: agentOf(own) ?? resource.text("service.name") ?? "unknown",
    metric_type: "token_usage",
    timestamp,
    value: tokens.input + tokens.output,
    dimensions: { session_id: sessionOf(own) ?? trace, environment: environmentOf(resource), model: modelOf(own) },
    tokens,
  } as NewMetric;
  return { metrics: [row], tools: [] };
}
