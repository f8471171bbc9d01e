/** What the server is and its health: public, without secrets. */
import { z } from "zod";
import type { Pinakes } from "../../open.ts";
import { HttpError } from "../framework/http-error.ts";
import { defineRoute, ok, type Route } from "../framework/index.ts";
import { metricsText } from "../metrics.ts";

const noStore = { headers: { "cache-control": "no-store" } };

export function systemRoutes(pinakes: Pinakes): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/healthz",
      operationId: "health",
      summary: "Liveness: whether the process responds",
      tag: "system",
      auth: "public",
      answers: { 200: { description: "It does.", schema: z.object({ status: z.literal("ok") }) } },
      handler: () => ok({ status: "ok" }, noStore),
    }),
    defineRoute({
      method: "GET",
      path: "/readyz",
      operationId: "ready",
      summary: "Readiness: whether the stores respond",
      tag: "system",
      auth: "public",
      answers: { 200: { description: "They do.", schema: z.looseObject({ status: z.literal("ready") }) } },
      handler: async () => {
        const { ready, reasons, warnings } = await pinakes.ready();
        if (ready) return ok({ status: "ready", warnings }, noStore);
        const detail = Object.entries(reasons).map(([store, reason]) => `${store}: ${reason}`);
        throw new HttpError("UNAVAILABLE", `Not ready. ${detail.join("; ")}`, { more: { reasons, warnings } });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/metrics",
      operationId: "metrics",
      summary: "Metrics of this process, for Prometheus",
      tag: "system",
      auth: "public",
      answers: { 200: { description: "Prometheus text format.", contentType: "text/plain" } },
      handler: () => ({
        status: 200,
        body: metricsText(pinakes, Date.now()),
        contentType: "text/plain; version=0.0.4; charset=utf-8",
      }),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/info",
      operationId: "info",
      summary: "Name, version, engines and models of the server",
      tag: "system",
      auth: "public",
      answers: {
        200: {
          description: "Name, version, engines, models, and how long a deleted collection can be restored.",
          schema: z.looseObject({ name: z.string(), version: z.string() }),
        },
      },
      handler: () => {
        const { name, version, database, uptimeMs, items, objects, queue, triples } = pinakes.info();
        return ok({
          name,
          version,
          database,
          uptime_ms: uptimeMs,
          items: {
            engine: items.engine,
            index_reads: items.indexReads,
            batch_operations_max: items.batchOperationsMax,
            durable: items.durable,
          },
          objects: { driver: objects.driver, conditional_put: objects.conditionalPut, durable: objects.durable },
          queue: { driver: queue.driver, dedup_window_ms: queue.dedupWindowMs, durable: queue.durable },
          triples: {
            engine: triples.engine,
            reads: triples.reads,
            atomic_quads_max: triples.atomicQuadsMax,
            durable: triples.durable,
          },
          models: pinakes.knowledge.models,
          trash_days: pinakes.knowledge.trashDays,
        });
      },
    }),
  ];
}
