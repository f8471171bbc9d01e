/** The rows that take the place of a piece: as many, with the same sum, all with the mean, and nothing that leads to a person. */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import { expiresAt } from "../../domain/ttl.ts";
import type { WalkedItem } from "../../ports/item-erasure.ts";

export interface Piece {
  /** How exact their time stays; those of a day also lose model and environment. */
  readonly of: "hour" | "day";
  /** Of one day, agent and type. */
  readonly rows: readonly WalkedItem[];
}

export interface AnonymousOptions {
  /** Takes the place of the agent's id; absent: that stays. */
  readonly agent?: string | undefined;
  readonly now: number;
  /** The default time to live. */
  readonly ttlSeconds: number | null;
}

export function anonymousRows(
  { of, rows }: Piece,
  { agent, now, ttlSeconds }: AnonymousOptions,
): readonly JsonObject[] {
  const [first] = rows;
  if (first === undefined) return [];
  const { metric_date, agent_id, workspace_id, metric_type, timestamp, dimensions } = first.document;
  const hour = of === "hour" ? (timestamp as string).slice(11, 13) : "00";
  const at = `${metric_date as string}T${hour}:00:00.000Z`;
  const { environment = "", model = "" } = (dimensions ?? {}) as JsonObject;
  const kept = of === "hour" ? { environment, model } : { environment: "", model: "" };
  const ttl = lifeSeconds(rows, now, ttlSeconds);
  return shares(rows.map(({ document }) => document["value"] as number)).map((value) => ({
    id: `metric-${randomUUID()}`,
    metric_date: metric_date as string,
    agent_id: agent ?? (agent_id as string),
    workspace_id: workspace_id as string,
    metric_type: metric_type as string,
    timestamp: at,
    value,
    dimensions: { session_id: "", workflow_id: "", ...kept, tool_name: null },
    created_at: at,
    ttl,
  }));
}

/** Their time to live does not begin again: that of the row which lives longest goes on. */
function lifeSeconds(rows: readonly WalkedItem[], now: number, ttlSeconds: number | null): number {
  const left = rows.map(({ document, modifiedAt }) => {
    const own = document["ttl"];
    const at = expiresAt(ttlSeconds, typeof own === "number" ? own : null, modifiedAt);
    return at === null ? -1 : Math.max(1, Math.ceil((at - now) / 1000));
  });
  return left.includes(-1) ? -1 : Math.max(...left);
}

/** As many equal values as there were; the last takes the remainder, so that whole numbers have exactly the same sum. */
function shares(values: readonly number[]): readonly number[] {
  const sum = values.reduce((total, value) => total + value, 0);
  const count = values.length;
  const share = values.every((value) => Number.isInteger(value)) ? Math.trunc(sum / count) : sum / count;
  return values.map((_, i) => (i === count - 1 ? sum - share * (count - 1) : share));
}
