/** The history of a workflow in lanes on one time axis. Pure. */
import type { Checkpoint, Workflow } from "@pinakes/client";
import { workflowStrings } from "../../strings/workflows.ts";

const s = workflowStrings.timeline;

export interface Entry {
  readonly key: string;
  readonly kind: "workflow" | "agent" | "checkpoint";
  readonly what: string;
  readonly status: string | undefined;
  /** Epoch milliseconds; undefined if not started. */
  readonly from: number | undefined;
  /** Equal to `from` for a point in time; undefined while in progress. */
  readonly to: number | undefined;
}

export interface Lane {
  readonly key: string;
  readonly label: string;
  readonly entries: readonly Entry[];
}

export interface Timeline {
  readonly lanes: readonly Lane[];
  readonly from: number;
  readonly to: number;
}

export function timelineOf(workflow: Workflow, checkpoints: readonly Checkpoint[], now: number): Timeline {
  const agents = workflow.agents.map((agent): Lane => ({
    key: `agent ${agent.agent_id}`,
    label: agent.agent_name === "" ? agent.agent_id : agent.agent_name,
    entries: [
      entry(`agent ${agent.agent_id}`, "agent", agent.agent_id, agent.status, agent.started_at, agent.completed_at),
    ],
  }));
  const marks = checkpoints.map(({ step, timestamp }) =>
    entry(checkpointKey({ step, timestamp }), "checkpoint", s.checkpoint(step), undefined, timestamp, timestamp),
  );
  const lanes: readonly Lane[] = [
    { key: "workflow", label: s.workflow, entries: lifeOf(workflow) },
    ...agents,
    ...(marks.length === 0 ? [] : [{ key: "checkpoints", label: s.checkpoints, entries: marks }]),
  ];
  const times = lanes.flatMap(({ entries }) =>
    entries.flatMap(({ from, to }) => (from === undefined ? [] : [from, to ?? now])),
  );
  return { lanes, from: Math.min(...times), to: Math.max(...times) };
}

export function checkpointKey({ step, timestamp }: Pick<Checkpoint, "step" | "timestamp">): string {
  return `${step} ${timestamp}`;
}

/** By start time; entries that have not started come last. */
export function entriesOf({ lanes }: Timeline): readonly Entry[] {
  return lanes.flatMap(({ entries }) => entries).toSorted((a, b) => (a.from ?? Infinity) - (b.from ?? Infinity));
}

function lifeOf({ created_at, started_at, completed_at, status }: Workflow): readonly Entry[] {
  const created = entry("created", "workflow", s.created, undefined, created_at, created_at);
  if (started_at === undefined || started_at === null) return [created];
  // The document does not say when a workflow was paused.
  const goesOn = status === "in_progress";
  const ended = completed_at ?? (goesOn ? null : started_at);
  return [created, entry("started", "workflow", s.started, status, started_at, ended)];
}

function entry(
  key: string,
  kind: Entry["kind"],
  what: string,
  status: string | undefined,
  from: string | null,
  to: string | null,
): Entry {
  const [begin, end] = [momentOf(from), momentOf(to)];
  return {
    key,
    kind,
    what,
    status,
    from: begin,
    to: begin !== undefined && end !== undefined ? Math.max(begin, end) : end,
  };
}

/** Agent times are written by programs: invalid ones count as unknown. */
function momentOf(text: string | null): number | undefined {
  const at = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
