/** Current problems, worst first: readiness and warnings of the server, and the alarms and queues of the workspace. */
import type { AlarmState, Queue } from "@pinakes/client";
import type { Readiness } from "../../api/health.ts";
import { overviewStrings } from "../../strings/overview.ts";

const s = overviewStrings.alarms;

/** The page of the console with the details. */
export type AlarmLink =
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
  readonly scope: "server" | "workspace";
  readonly text: string;
  readonly link?: AlarmLink | undefined;
}

interface Sources {
  readonly readiness: Readiness | undefined;
  readonly queues: readonly Queue[] | undefined;
  readonly states: readonly AlarmState[] | undefined;
}

/** By the name of the alarm. An alarm without an entry is shown without a link. */
const links: Readonly<Partial<Record<string, AlarmLink>>> = {
  deletion_lag: { to: "/deletions", search: { status: "running" } },
  failed_deletions: { to: "/deletions", search: { status: "failed" } },
};

export function alarmsOf({ readiness, queues = [], states = [] }: Sources): readonly Alarm[] {
  const server = (tone: Alarm["tone"], key: string, text: string): Alarm => ({ key, tone, scope: "server", text });
  const alarms = [
    ...Object.entries(readiness?.reasons ?? {}).map(([store, reason]) =>
      server("bad", `reason ${store}`, s.notReady(store, reason)),
    ),
    ...Object.entries(readiness?.warnings ?? {}).map(([name, detail]) =>
      server("warn", `warning ${name}`, s.warning(name, detail)),
    ),
    ...alarmsOfQueues(queues),
    ...states.filter(({ firing }) => firing).map(alarmOfState),
  ];
  return alarms.toSorted((a, b) => Number(a.tone === "warn") - Number(b.tone === "warn"));
}

function alarmOfState({ name, help, detail }: AlarmState): Alarm {
  return { key: `alarm ${name}`, tone: "bad", scope: "workspace", text: detail ?? help, link: links[name] };
}

function alarmsOfQueues(queues: readonly Queue[]): readonly Alarm[] {
  const failed = queues.find(({ name }) => name === "documents")?.failed ?? 0;
  const dead = queues.filter((queue) => (queue.dead ?? 0) > 0);
  return [
    ...dead.map((queue): Alarm => ({
      key: `dead ${queue.name}`,
      tone: "bad",
      scope: "workspace",
      text: s.dead(queue.dead ?? 0, queue.name),
      link: { to: "/jobs", search: { tab: "queues", queue: queue.name } },
    })),
    ...(failed === 0
      ? []
      : [
          {
            key: "failed documents",
            tone: "warn",
            scope: "workspace",
            text: s.failedDocuments(failed),
            link: { to: "/jobs", search: { status: "failed", kind: "ingest" } },
          } as const,
        ]),
  ];
}
