/** Jobs and events over HTTP. */
import { z } from "zod";
import { pageOf } from "../../contract/index.ts";
import type { Identity } from "../../identity/index.ts";
import type { Knowledge } from "../../knowledge/index.ts";
import { accepted, defineRoute, ok, sse, type Credentials, type Route } from "../framework/index.ts";
import type { RouteRequest } from "../framework/route.ts";
import { cookieValue } from "./identity.ts";
import { id, Job, paging } from "./schemas.ts";

const jid = id.describe("Id of the job.");
const params = z.object({ jid });

export function jobRoutes(knowledge: Knowledge, identity: Identity): readonly Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/v1/jobs",
      operationId: "listJobs",
      summary: "List jobs of collections the caller may see, newest first",
      tag: "jobs",
      auth: "caller",
      query: z.object(paging),
      answers: { 200: { description: "A page.", schema: pageOf(Job) } },
      handler: async ({ caller, query }) => ok(await knowledge.jobs.list(caller, query)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/jobs/{jid}",
      operationId: "getJob",
      summary: "Get a job: its progress, and why it failed",
      tag: "jobs",
      auth: "caller",
      params,
      answers: { 200: { description: "The job.", schema: Job } },
      handler: async ({ caller, params: p }) => ok(await knowledge.jobs.get(caller, p.jid)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/jobs/{jid}:retry",
      operationId: "retryJob",
      summary: "Retry a failed or cancelled job",
      tag: "jobs",
      auth: "caller",
      params,
      answers: { 202: { description: "The job, queued again.", schema: Job } },
      handler: async ({ caller, params: p }) => accepted(await knowledge.jobs.retry(caller, p.jid)),
    }),
    defineRoute({
      method: "POST",
      path: "/v1/jobs/{jid}:cancel",
      operationId: "cancelJob",
      summary: "Cancel a job; it ends at its next step",
      tag: "jobs",
      auth: "caller",
      params,
      answers: { 202: { description: "The job.", schema: Job } },
      handler: async ({ caller, params: p }) => accepted(await knowledge.jobs.cancel(caller, p.jid)),
    }),
    defineRoute({
      method: "GET",
      path: "/v1/events",
      operationId: "followEvents",
      summary: "Stream events of collections the caller may see, as server-sent events",
      description:
        "`document.status`, `collection.status`, `job.progress`, `job.done`. Last-Event-ID resumes after that event; without it the stream starts now.",
      tag: "jobs",
      auth: "caller",
      answers: { 200: { description: "Events without end.", contentType: "text/event-stream" } },
      handler: async (request) => {
        // Before the answer begins: its client hears of everything that happens from then on.
        const latest = await knowledge.latestEventId(request.caller);
        return sse(request, async function* (lastEventId = latest, signal) {
          for await (const event of knowledge.events(request.caller, { after: lastEventId, signal })) {
            // A stream may outlive the key or session that opened it: nothing is sent after the credential ends.
            await identity.authenticate(credentialsOf(request));
            yield { id: event.id, event: event.type, data: event };
          }
        });
      },
    }),
  ];
}

/** The credentials of the request, which were valid when the stream started. */
export function credentialsOf({ header }: Pick<RouteRequest, "header">): Credentials {
  const bearer = (header("authorization") ?? "").trim().replace(/^Bearer +/i, "");
  const sessionCookie = cookieValue(header("cookie"));
  return {
    ...(bearer === "" ? {} : { bearer }),
    ...(sessionCookie === undefined ? {} : { sessionCookie }),
    safeMethod: true,
    fromLoopback: false,
  };
}
