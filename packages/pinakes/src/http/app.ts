/** The HTTP interface. A route only translates: what it answers comes from `Pinakes`. */
import { randomUUID } from "node:crypto";
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { PinakesError } from "../domain/errors.ts";
import type { Pinakes } from "../open.ts";
import { metricsText } from "./metrics.ts";
import { toPinakesError, toProblem } from "./problem.ts";

export interface AppOptions {
  /** Gets a line for each unexpected error. */
  readonly log?: (line: string) => void;
}

interface Env {
  Variables: { requestId: string };
}

export function createApp(pinakes: Pinakes, { log = () => {} }: AppOptions = {}): Hono<Env> {
  const app = new Hono<Env>();
  app.use(async function requestId(c, next) {
    const sent = c.req.header("x-request-id");
    const id = sent !== undefined && /^[\w.-]{1,128}$/.test(sent) ? sent : randomUUID();
    c.set("requestId", id);
    c.header("x-request-id", id);
    await next();
  });
  app.onError((error, c) => {
    const known = toPinakesError(error, c.get("requestId"));
    if (known.status >= 500) log(`request ${c.get("requestId")}: ${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`);
    return problem(c, known);
  });
  app.notFound((c) => problem(c, new PinakesError("NOT_FOUND", `There is nothing at ${c.req.method} ${c.req.path}. GET /v1/info tells what this server is.`)));
  systemRoutes(app, pinakes);
  return app;
}

function systemRoutes(app: Hono<Env>, pinakes: Pinakes): void {
  app.get("/healthz", (c) => c.json({ status: "ok" }, 200, { "cache-control": "no-store" }));
  app.get("/readyz", async (c) => {
    const { ready, reasons, warnings } = await pinakes.ready();
    if (ready) return c.json({ status: "ready", warnings }, 200, { "cache-control": "no-store" });
    const detail = Object.entries(reasons).map(([store, reason]) => `${store}: ${reason}`);
    return problem(c, new PinakesError("UNAVAILABLE", `Not ready. ${detail.join("; ")}`), { reasons, warnings });
  });
  app.get("/metrics", (c) => c.text(metricsText(pinakes, Date.now()), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }));
  app.get("/v1/info", (c) => {
    const { name, version, database, uptimeMs, items, objects, queue } = pinakes.info();
    return c.json({
      name,
      version,
      database,
      uptime_ms: uptimeMs,
      items: { engine: items.engine, index_reads: items.indexReads, batch_operations_max: items.batchOperationsMax, durable: items.durable },
      objects: { driver: objects.driver, conditional_put: objects.conditionalPut, durable: objects.durable },
      queue: { driver: queue.driver, dedup_window_ms: queue.dedupWindowMs, durable: queue.durable },
    });
  });
}

function problem(c: Context<Env>, error: PinakesError, more: Readonly<Record<string, unknown>> = {}): Response {
  const body = { ...toProblem(error, c.get("requestId")), ...more };
  return c.body(JSON.stringify(body), error.status as ContentfulStatusCode, { "content-type": "application/problem+json", "cache-control": "no-store" });
}
