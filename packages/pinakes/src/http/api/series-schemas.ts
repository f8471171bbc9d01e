/** Schemas shared by the routes of metrics and of the tool log. */
import { aggregates, sortOrders, type IngestOptions, type IngestResult } from "@pinakes/client";
import type * as wire from "@pinakes/client";
import { z } from "zod";
import { shape } from "../../contract/index.ts";
import { numberedLines, readNdjson, type IncomingLine } from "../../state/index.ts";
import type { Caller } from "../../domain/caller.ts";
import { defineRoute, ok, queryFlag, queryInteger, type Route } from "../framework/index.ts";
import type { JsonBody, RawBody } from "../framework/route.ts";

/** 10,000 lines of several kilobytes each. */
const ingestBytesMax = 67_108_864;

const rows = z.array(z.unknown());
const ingestBody = {
  raw: ["application/x-ndjson", "application/ndjson", "application/jsonl"],
  json: z.union([rows, z.strictObject({ items: rows })]),
} as const;
const ingestQuery = z.object({
  all_or_nothing: queryFlag().optional().describe("Store nothing unless every line is valid."),
  report: z.enum(["failed", "all"]).optional().describe("Report every line, not only the failed ones."),
});

async function linesOf(body: RawBody | JsonBody<unknown[] | { items: unknown[] }>): Promise<readonly IncomingLine[]> {
  if (body.kind === "raw") return readNdjson(body.stream);
  return numberedLines(Array.isArray(body.value) ? body.value : body.value.items);
}

function optionsOf({ all_or_nothing, report }: z.output<typeof ingestQuery>): IngestOptions {
  return {
    allOrNothing: all_or_nothing,
    report,
  };
}

const IngestAnswer = shape<wire.IngestResult>()(
  z
    .object({
      accepted: z.number(),
      duplicates: z.number(),
      failed: z.number(),
      lines: z.array(
        z.object({
          line: z.number(),
          status: z.number(),
          id: z.string().optional(),
          duplicate: z.literal(true).optional(),
          error: z.object({ code: z.string(), detail: z.string() }).optional(),
        }),
      ),
    })
    .meta({ id: "IngestResult" }),
);

/** Both are ingested line by line, in the same two formats. */
export function ingestRoute(
  named: Pick<Route, "operationId" | "summary" | "tag"> & { readonly path: string; readonly description: string },
  ingest: (caller: Caller, lines: readonly IncomingLine[], options: IngestOptions) => Promise<IngestResult>,
): Route {
  return defineRoute({
    method: "POST",
    ...named,
    auth: "caller",
    query: ingestQuery,
    body: ingestBody,
    limits: { bodyBytesMax: ingestBytesMax },
    idempotent: true,
    answers: { 200: { description: "The result of the lines.", schema: IngestAnswer } },
    handler: async ({ caller, query, body }) => ok(await ingest(caller, await linesOf(body), optionsOf(query))),
  });
}

export const timeRange = {
  from: z.string().optional().describe("Included; ISO 8601, UTC."),
  to: z.string().optional().describe("Not included."),
  limit: queryInteger().optional().describe("Items per page, at most 1,000."),
  cursor: z.string().optional().describe("`next_cursor` of the previous page."),
};
export const timeList = {
  ...timeRange,
  order: z.enum(sortOrders).optional().describe("Default desc: newest first."),
};

/** `group`: the name of a dimension. */
export function aggregateBody<Group extends z.ZodType<string, string>>(group: Group) {
  return z.strictObject({
    from: z.string().optional().describe("Inclusive; default: 24 hours before `to`."),
    to: z.string().optional().describe("Exclusive; default: now."),
    bucket: z.string().optional().describe("minute, hour, day, or e.g. 5m, 6h, 2d; default: one row per group."),
    aggregates: z.array(z.enum(aggregates)).min(1),
    group_by: z.array(group).optional(),
    filter: z.partialRecord(group, z.string().nullable()).optional(),
  });
}

export const AggregateAnswer = shape<wire.AggregateResult>()(
  z
    .object({
      items: z.array(
        z.object({
          bucket: z.string().nullable(),
          group: z.record(z.string(), z.string().nullable()),
          values: z.partialRecord(z.enum(aggregates), z.number().nullable()),
        }),
      ),
      rows_aggregated: z.number(),
      from: z.string().describe("The time range, inclusive."),
      to: z.string().describe("Not included."),
    })
    .meta({ id: "AggregateResult" }),
);
