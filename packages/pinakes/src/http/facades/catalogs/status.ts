/** The indexing progress of a catalog: once, or after each change as server-sent events. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { CatalogContext, CatalogEnvelope } from "../../../catalogs/index.ts";
import type { Pinakes } from "../../../open.ts";
import { credentialsOf } from "../../api/jobs.ts";
import { chooseType, defineRoute, sse, type Route, type ServerEvent } from "../../framework/index.ts";
import { answerOf, Envelope } from "./answers.ts";
import { contextOf, runTool } from "./context.ts";
import { cid, common, described } from "./declare.ts";

const eventStream = "text/event-stream";
const lookMs = 1_000;

export function statusRoute(pinakes: Pinakes): Route {
  return defineRoute({
    ...common,
    ...described("get_indexing_status", "Indexing status of a catalog, once or as server-sent events"),
    method: "GET",
    path: "/catalogs/{cid}/status",
    operationId: "getCatalogStatus",
    params: z.object({ cid }),
    answers: {
      200: {
        description:
          "The status; with Accept: text/event-stream an event `status` at once and after each change, indefinitely.",
        schema: Envelope,
        alsoTypes: [eventStream],
      },
    },
    handler: async (request) => {
      const context = contextOf(pinakes, request);
      const type = chooseType(request.header("accept"), [
        { types: ["application/json"], value: "json" },
        { types: [eventStream], value: "events" },
      ] as const);
      const first = await statusOf(context, request.params.cid);
      if (type.value === "json" || first.status === "error") return answerOf(first);
      return sse(request, async function* (_after, signal) {
        for await (const event of changesOf(context, request.params.cid, signal)) {
          // A stream may outlive the key or session that opened it: nothing is sent after the credential ends.
          await pinakes.identity.authenticate(credentialsOf(request));
          yield event;
        }
      });
    },
  });
}

function statusOf(context: CatalogContext, catalog_id: string): Promise<CatalogEnvelope> {
  return runTool("get_indexing_status", context, { catalog_id });
}

/** Ends after the event that reports that the catalog no longer exists. */
async function* changesOf(
  context: CatalogContext,
  catalogId: string,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  for (let last = ""; !signal.aborted;) {
    const envelope = await statusOf(context, catalogId);
    const text = JSON.stringify(envelope);
    if (text !== last) yield { event: "status", data: envelope };
    if (envelope.status === "error") return;
    last = text;
    // Ends the wait early, and then the loop.
    await sleep(lookMs, undefined, { signal }).catch(() => {});
  }
}
