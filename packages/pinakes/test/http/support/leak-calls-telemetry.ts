/** How telemetry is sent in another workspace's names. An exporter says whose it is by its key alone. */
import type { StateCall, StateTarget } from "./leak-calls-state.ts";

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const resource = ({ aid }: StateTarget) => ({
  attributes: [text("service.name", aid), text("workspace_id", "w1"), text("tenant", "w1")],
});
const ids = { traceId: "5b8efff798038103d269b633813fc60c", spanId: "00000000000000e1" };
const nanos = (t: StateTarget) => `${Date.parse(`${t.date}T00:00:01Z`)}000000`;

const spans = (t: StateTarget) => [
  {
    ...ids,
    name: "execute_tool",
    startTimeUnixNano: nanos(t),
    endTimeUnixNano: nanos(t),
    attributes: [
      text("gen_ai.operation.name", "execute_tool"),
      text("gen_ai.tool.name", t.tool),
      text("gen_ai.conversation.id", t.sid),
      text("workspace_id", "w1"),
    ],
  },
];
const points = (t: StateTarget) => [
  {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    histogram: {
      aggregationTemporality: 1,
      dataPoints: [
        {
          startTimeUnixNano: nanos(t),
          timeUnixNano: nanos(t),
          count: "1",
          sum: 7,
          attributes: [
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.token.type", "input"),
            text("gen_ai.request.model", "m"),
          ],
        },
      ],
    },
  },
];
const gauges = (t: StateTarget) => [
  {
    name: t.name,
    gauge: {
      dataPoints: [
        { timeUnixNano: nanos(t), asDouble: 0.5, attributes: [text(t.name, "mine"), text("workspace_id", "w1")] },
      ],
    },
  },
];
const records = (t: StateTarget) => [
  {
    ...ids,
    timeUnixNano: nanos(t),
    eventName: "gen_ai.client.inference.operation.details",
    attributes: [text("gen_ai.operation.name", "chat"), { key: "gen_ai.usage.input_tokens", value: { intValue: "7" } }],
  },
];

export const telemetryCalls: Readonly<Record<string, readonly StateCall[]>> = {
  exportTraces: [
    { kind: "makes", body: (t) => ({ resourceSpans: [{ resource: resource(t), scopeSpans: [{ spans: spans(t) }] }] }) },
  ],
  exportMetrics: [points, gauges].map((metrics) => ({
    kind: "makes",
    body: (t) => ({ resourceMetrics: [{ resource: resource(t), scopeMetrics: [{ metrics: metrics(t) }] }] }),
  })),
  exportLogs: [
    {
      kind: "makes",
      body: (t) => ({ resourceLogs: [{ resource: resource(t), scopeLogs: [{ logRecords: records(t) }] }] }),
    },
  ],
};
