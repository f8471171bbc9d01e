/** What is wrong at this moment, in words, the worst first. Nothing is kept: what is mended is gone from the list. */
import type { Readiness } from "../../api/health.ts";
import type { DeletionLag } from "../../api/operations.ts";
import type { Queue } from "../../api/queues.ts";
import { formatSeconds } from "../../lib/format.ts";
import { overviewStrings } from "../../strings/overview.ts";

const s = overviewStrings.alarms;

/** A page of the console that tells more. */
export type AlarmPlace =
  | {
      readonly to: "/jobs";
      readonly search: {
        readonly tab?: "queues";
        readonly queue?: string;
        readonly status?: "failed";
        readonly kind?: "ingest";
      };
    }
  | { readonly to: "/deletions"; readonly search: { readonly status?: "failed" | "running" } };

export interface Alarm {
  readonly key: string;
  readonly tone: "bad" | "warn";
  /** Whose it is: of all workspaces of the server, or of this one. */
  readonly scope: "server" | "workspace";
  readonly text: string;
  readonly place?: AlarmPlace;
}

interface Known {
  readonly readiness: Readiness | undefined;
  readonly queues: readonly Queue[] | undefined;
  readonly lag: DeletionLag | undefined;
}

export function alarmsOf({ readiness, queues = [], lag }: Known): readonly Alarm[] {
  const found = [...ofServer(readiness), ...ofQueues(queues), ...ofDeletions(lag)];
  return found.toSorted((a, b) => Number(a.tone === "warn") - Number(b.tone === "warn"));
}

function ofServer(readiness: Readiness | undefined): readonly Alarm[] {
  const reasons = Object.entries(readiness?.reasons ?? {});
  const warnings = Object.entries(readiness?.warnings ?? {});
  return [
    ...reasons.map(([store, reason]): Alarm => ({
      key: `reason ${store}`,
      tone: "bad",
      scope: "server",
      text: s.notReady(store, reason),
    })),
    ...warnings.map(([what, why]): Alarm => ({
      key: `warning ${what}`,
      tone: "warn",
      scope: "server",
      text: s.warning(what, why),
    })),
  ];
}

function ofQueues(queues: readonly Queue[]): readonly Alarm[] {
  const dead = queues.filter((queue) => (queue.dead ?? 0) > 0);
  const failed = queues.find(({ name }) => name === "documents")?.failed ?? 0;
  return [
    ...dead.map((queue): Alarm => ({
      key: `dead ${queue.name}`,
      tone: "bad",
      scope: "workspace",
      text: s.dead(s.messages(queue.dead ?? 0), queue.name),
      place: { to: "/jobs", search: { tab: "queues", queue: queue.name } },
    })),
    ...(failed === 0
      ? []
      : [
          {
            key: "failed documents",
            tone: "warn",
            scope: "workspace",
            text: s.failedDocuments(s.documents(failed)),
            place: { to: "/jobs", search: { status: "failed", kind: "ingest" } },
          } as const,
        ]),
  ];
}

function ofDeletions(lag: DeletionLag | undefined): readonly Alarm[] {
  if (lag === undefined) return [];
  const { failed, lag_seconds, limit_seconds } = lag;
  const alarm = (key: string, text: string, status: "failed" | "running"): Alarm => ({
    key,
    tone: "bad",
    scope: "workspace",
    text,
    place: { to: "/deletions", search: { status } },
  });
  return [
    ...(failed > 0 ? [alarm("stuck deletions", s.stuck(s.deletions(failed)), "failed")] : []),
    ...(lag_seconds > limit_seconds
      ? [
          alarm(
            "deletion lag",
            s.late(formatSeconds(lag_seconds), formatSeconds(limit_seconds)),
            failed > 0 ? "failed" : "running",
          ),
        ]
      : []),
  ];
}
