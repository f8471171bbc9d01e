/** OpenTelemetry over HTTP: set OTEL_EXPORTER_OTLP_ENDPOINT to `…/v1/otlp`. */
import { z } from "zod";
import { otlpBytesMax, type State } from "../../state/index.ts";
import { defineRoute, type Route } from "../framework/index.ts";

const ExportAnswer = z
  .object({ partialSuccess: z.looseObject({ errorMessage: z.string() }).optional() })
  .meta({ id: "OtlpAnswer" });

const signals = [
  [
    "traces",
    "exportTraces",
    "Ingest spans: execute_tool becomes a tool invocation; chat, text_completion, generate_content and invoke_agent become metrics",
  ],
  [
    "metrics",
    "exportMetrics",
    "Ingest metrics in delta temporality: tokens, durations and costs of GenAI clients; other names become custom types, their attributes custom dimensions",
  ],
  ["logs", "exportLogs", "Ingest logs: token counts of inferences"],
] as const;

export function telemetryRoutes({ telemetry }: State): readonly Route[] {
  return signals.map(([signal, operationId, summary]) =>
    defineRoute({
      method: "POST",
      path: `/v1/otlp/v1/${signal}`,
      operationId,
      summary,
      description:
        "OTLP/HTTP as JSON or protobuf, gzipped or not. Data without a mapping is counted in `partialSuccess`. Idempotent.",
      tag: "telemetry",
      auth: "caller",
      body: { raw: ["application/json", "application/x-protobuf"], gzip: true },
      limits: { bodyBytesMax: otlpBytesMax },
      answers: { 200: { description: "Accepted, in the format of the request.", schema: ExportAnswer } },
      handler: async ({ caller, body, header }) => {
        const chunks = await Array.fromAsync(body.stream);
        const encoding = header("content-encoding")?.trim().toLowerCase();
        const { contentType, json, bytes } = await telemetry[signal](
          caller,
          Buffer.concat(chunks),
          body.contentType,
          encoding,
        );
        return contentType === "application/json"
          ? { status: 200, body: json }
          : { status: 200, contentType, stream: oneChunk(bytes) };
      },
    }),
  );
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
