/** Formats containers as text. */
import type { ChangesPage, ContainerInfo, IndexSpec, IndexState } from "@pinakes/client";
import { count, fields, grid, inTime } from "../terminal/layout.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";

export function containersText(terminal: Terminal, containers: readonly ContainerInfo[]): string {
  return grid(
    terminal,
    containers.map((container) => ({
      container: container.name,
      kind: container.kind,
      "partition key": keyOf(container),
      expires: expiry(container.default_ttl),
      notes: [...(container.append_only ? ["append-only"] : []), ...(container.strict ? ["strict"] : [])].join(", "),
    })),
    { whole: ["container", "kind", "partition key", "expires"], optional: ["expires", "notes"] },
  );
}

export function containerText(terminal: Terminal, container: ContainerInfo, indexes: readonly IndexState[]): string {
  const { unique_keys, normalised_policy: policy } = container;
  const head = fields(terminal, {
    container: container.name,
    kind: container.kind,
    "partition key": keyOf(container),
    expires: expiry(container.default_ttl) || "never",
    "unique keys": Object.entries(unique_keys)
      .map(([name, paths]) => `${name} (${paths.join(", ")})`)
      .join(", "),
    indexed: policy?.includedPaths?.map(({ path }) => path).join(", "),
    "not indexed": policy?.excludedPaths?.map(({ path }) => path).join(", "),
    strict: container.strict ? "yes" : undefined,
    "may be": container.append_only ? "only added to" : undefined,
    etag: container.etag,
    advice: container.advice,
  });
  return indexes.length === 0 ? head : `${head}\n\n${indexesText(terminal, indexes)}`;
}

function indexesText(terminal: Terminal, indexes: readonly IndexState[]): string {
  return grid(
    terminal,
    indexes.map(({ name, partition, sort, state, progress, error }) => ({
      index: name,
      by: partition.join(", "),
      "ordered by": sort.map(sortText).join(", "),
      state: state === "ready" ? state : `${state}, ${Math.floor(progress * 100)}%`,
      error: error ?? "",
    })),
    { whole: ["index", "state"] },
  );
}

function sortText(sort: IndexSpec["sort"][number]): string {
  return typeof sort === "string" ? sort : `${sort.path}${sort.order === "desc" ? " ↓" : ""}`;
}

function keyOf({ partition_key: key }: ContainerInfo): string {
  return typeof key === "string" ? key : key.join(", ");
}

const daySeconds = 86_400;

function expiry(ttl: number | null): string {
  if (ttl === null) return "";
  if (ttl === -1) return "by item";
  return `after ${ttl % daySeconds === 0 ? count(ttl / daySeconds, "day") : count(ttl, "second")}`;
}

export function changesText(terminal: Terminal, name: string, { items, cursor, more }: ChangesPage): string {
  const next = styled(
    terminal,
    "dim",
    `${more ? "There are more" : "Later changes"}: pinakes containers changes ${name} --cursor ${cursor}`,
  );
  if (items.length === 0) return `Nothing changed.\n\n${next}`;
  const rows = items.map(({ at, kind, id, pk, time_to_live_expired }) => ({
    time: inTime(at),
    change: time_to_live_expired === true ? "expired" : kind,
    id,
    partition: pk.map(String).join(", "),
  }));
  return `${grid(terminal, rows, { whole: ["time", "change", "id"] })}\n\n${next}`;
}
