/** Current metrics, each with its scope. */
import type { DeletionLag, Queue, ServerStatus } from "@pinakes/client";
import { useConnected } from "../../api/connection.ts";
import type { Readiness } from "../../api/health.ts";
import { formatNumber, formatSeconds } from "../../lib/format.ts";
import { overviewStrings } from "../../strings/overview.ts";
import { Badge } from "../../ui/badge.tsx";

const s = overviewStrings.tiles;
const { scopes } = overviewStrings;
const unknown = "–";

interface Props {
  readonly readiness: Readiness | undefined;
  readonly info: ServerStatus | undefined;
  readonly queues: readonly Queue[] | undefined;
  readonly lag: DeletionLag | undefined;
  /** Metrics of the workspace are for admins. */
  readonly ofWorkspace: boolean;
}

export function Tiles({ readiness, info, queues, lag, ofWorkspace }: Props) {
  const connected = useConnected();
  return (
    <ul aria-label={s.label} className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-5">
      <Tile
        name={s.server}
        scope="server"
        value={connected ? (readiness === undefined ? unknown : readiness.ready ? s.ready : s.notReady) : s.noAnswer}
        tone={!connected || readiness?.ready === false ? "bad" : undefined}
        more={info === undefined || !connected ? "" : s.up(formatSeconds(info.uptime_ms / 1000))}
      />
      {ofWorkspace && <WorkspaceTiles queues={queues} lag={lag} />}
    </ul>
  );
}

function WorkspaceTiles({ queues, lag }: Pick<Props, "queues" | "lag">) {
  const documents = queues?.find(({ name }) => name === "documents");
  const late = lag !== undefined && lag.warning !== null;
  return (
    <>
      <Tile
        name={s.backlog}
        scope="workspace"
        value={documents === undefined ? unknown : formatNumber(documents.waiting + documents.in_progress)}
        more={documents === undefined ? "" : backlogMore(documents)}
      />
      <Tile
        name={s.lag}
        scope="workspace"
        value={lag === undefined ? unknown : formatSeconds(lag.lag_seconds)}
        tone={late ? "bad" : undefined}
        more={lag === undefined ? "" : s.lagMore(formatNumber(lag.unfinished), formatSeconds(lag.limit_seconds))}
      />
      <Tile
        name={s.dead}
        scope="workspace"
        value={queues === undefined ? unknown : deadOf(queues)}
        tone={queues?.some(({ dead }) => (dead ?? 0) > 0) === true ? "bad" : undefined}
        more={s.deadMore}
      />
      <Tile
        name={s.failed}
        scope="workspace"
        value={documents === undefined ? unknown : formatNumber(documents.failed)}
        tone={documents !== undefined && documents.failed > 0 ? "warn" : undefined}
        more={s.failedMore}
      />
    </>
  );
}

/** Unknown if the queue service does not report dead letters. */
function deadOf(queues: readonly Queue[]): string {
  return queues.some(({ dead }) => dead === null)
    ? unknown
    : formatNumber(queues.reduce((sum, { dead }) => sum + (dead ?? 0), 0));
}

function backlogMore({ in_progress, oldest_age_seconds }: Queue): string {
  if (oldest_age_seconds === null) return s.nothingWaits;
  return `${s.backlogAge(formatSeconds(oldest_age_seconds))}; ${s.backlogMore(formatNumber(in_progress))}`;
}

interface TileProps {
  readonly name: string;
  readonly scope: keyof typeof scopes;
  readonly value: string;
  readonly more: string;
  readonly tone?: "bad" | "warn" | undefined;
}

const tones = { bad: "text-bad", warn: "text-warn" };

function Tile({ name, scope, value, more, tone }: TileProps) {
  return (
    <li className="flex min-w-0 flex-col gap-1 rounded-lg border bg-panel p-3">
      <span className="text-xs font-medium text-soft">{name}</span>
      <span className={tone === undefined ? "text-lg font-semibold" : `text-lg font-semibold ${tones[tone]}`}>
        {value}
      </span>
      <span className="flex-1 text-xs text-soft">{more}</span>
      <span>
        <Badge>{scopes[scope]}</Badge>
      </span>
    </li>
  );
}
