/**
 * Log records: only the event with the details of an inference, for its tokens. Its row has the same id as that of its span, so
 * that a sender of both is counted once.
 */
import type { NewMetric } from "@pinakes/client";
import { Attributes } from "./attributes.ts";
import {
  agentOf,
  environmentOf,
  hexId,
  modelOf,
  nothing,
  sessionOf,
  timestampOf,
  tokensOf,
  type Mapped,
} from "./common.ts";
import type { KeyValue, OtlpLogRecord } from "./otlp-types.ts";

const inferenceDetails = "gen_ai.client.inference.operation.details";

export interface LogGroup {
  readonly resource: readonly KeyValue[];
  readonly logRecords: readonly OtlpLogRecord[];
}

/** In the order of the records. */
export function mapLogs(groups: readonly LogGroup[]): readonly Mapped[] {
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
