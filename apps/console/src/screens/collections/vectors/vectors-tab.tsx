import type { Compaction, Manifest, VectorStats } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Combine } from "lucide-react";
import type { CollectionId } from "../../../api/collections.ts";
import { compact, manifestOptions } from "../../../api/vectors.ts";
import { formatBytes, formatMs, formatNumber } from "../../../lib/format.ts";
import { vectorStrings as s } from "../../../strings/vectors.ts";
import { Status } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import { Facts, Panel } from "../../../ui/panel.tsx";
import { Empty, ErrorBox, Loading } from "../../../ui/states.tsx";
import { Ago } from "../../../ui/time.tsx";
import { toast, toastError } from "../../../ui/toast.tsx";
import { UsagePanel } from "./usage-panel.tsx";
import { VersionTable } from "./version-table.tsx";

export default function VectorsTab({ id, mayCompact }: { readonly id: CollectionId; readonly mayCompact: boolean }) {
  const { data, error, refetch } = useQuery(manifestOptions(id));
  if (data === undefined)
    return error === null ? <Loading /> : <ErrorBox error={error} onRetry={() => void refetch()} />;
  const { passages, rows } = data;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel
        title={passages === null && rows !== null ? s.rows : s.now}
        actions={<CompactButton id={id} disabled={!mayCompact || data.stats === null} />}
      >
        {data.stats === null ? <Empty title={s.nothing}>{s.nothingAbout}</Empty> : <Facts of={factsOf(data.stats)} />}
      </Panel>
      <UsagePanel id={id} />
      {passages !== null && rows !== null && (
        <Panel title={s.rows} className="lg:col-span-2">
          <Facts of={factsOf(rows.stats)} />
        </Panel>
      )}
      {data.stats !== null && <Parts id={id} manifest={data} segments={data.stats.segments} />}
    </div>
  );
}

interface PartsProps {
  readonly id: CollectionId;
  readonly manifest: Manifest;
  readonly segments: VectorStats["segments"];
}

function Parts({ id, manifest, segments }: PartsProps) {
  return (
    <>
      <Panel title={s.segments} className="lg:col-span-2">
        <SegmentTable segments={segments} />
      </Panel>
      <Panel title={s.versions} className="lg:col-span-2">
        <VersionTable id={id} versions={manifest.versions} />
      </Panel>
    </>
  );
}

function factsOf(stats: VectorStats): Parameters<typeof Facts>[0]["of"] {
  const { settings, segments, pendingDeltas } = stats;
  const dead = segments.reduce((sum, { rows, live }) => sum + rows - live, 0);
  return [
    [s.facts.status, <Status key="status" value={stats.status} />],
    [s.facts.version, formatNumber(stats.version)],
    [s.facts.committed, <Ago key="committed" at={stats.committedAt} />],
    [s.facts.settings, s.settings(formatNumber(settings.dims), settings.metric, settings.language)],
    [s.facts.rows, formatNumber(stats.liveRows)],
    [s.facts.tombstones, formatNumber(dead)],
    [s.facts.size, formatBytes(stats.bytes)],
    [s.facts.writes, `${formatNumber(stats.lastSeq)}, ${formatNumber(stats.appliedSeq)}`],
    [s.facts.pending, s.pending(formatNumber(pendingDeltas), formatBytes(stats.pendingBytes))],
    ...(pendingDeltas === 0 ? [] : [[s.facts.oldest, formatMs(stats.oldestPendingMs)] as const]),
    [s.facts.dead, formatNumber(stats.deadDeltas)],
    [s.facts.lease, stats.lease.owner ?? s.facts.free],
  ];
}

function CompactButton({ id, disabled }: { readonly id: CollectionId; readonly disabled: boolean }) {
  const client = useQueryClient();
  const compacting = useMutation({
    mutationFn: () => compact(id),
    onSuccess: (done) => toast(s.compacted, wordsOf(done)),
    onError: (error) => toastError(s.compact, error),
    onSettled: () => client.invalidateQueries({ queryKey: manifestOptions(id).queryKey }),
  });
  return (
    <Button size="small" disabled={disabled || compacting.isPending} onClick={() => compacting.mutate()}>
      <Combine aria-hidden />
      {compacting.isPending ? s.compacting : s.compact}
    </Button>
  );
}

function wordsOf({ outcome, folds, merges, rowsWritten }: Compaction): string {
  if (outcome !== "done" || folds === undefined || merges === undefined) return s.outcome(outcome);
  return s.compactedMore(folds, merges, formatNumber(rowsWritten ?? 0));
}

type Segment = VectorStats["segments"][number];

const columns: readonly Column<Segment>[] = [
  {
    id: "name",
    header: s.segment.name,
    width: "minmax(14rem,2fr)",
    cell: ({ key }) => (
      <code className="truncate font-mono text-xs" title={key}>
        {key.slice(key.lastIndexOf("/") + 1)}
      </code>
    ),
  },
  { id: "rows", header: s.segment.rows, width: "6rem", align: "right", cell: ({ rows }) => formatNumber(rows) },
  { id: "live", header: s.segment.live, width: "6rem", align: "right", cell: ({ live }) => formatNumber(live) },
  {
    id: "dead",
    header: s.segment.dead,
    width: "6rem",
    align: "right",
    cell: ({ rows, live }) => formatNumber(rows - live),
  },
  { id: "size", header: s.segment.size, width: "6rem", align: "right", cell: ({ bytes }) => formatBytes(bytes) },
];

function SegmentTable({ segments }: { readonly segments: readonly Segment[] }) {
  return (
    <DataTable
      label={s.segments}
      columns={columns}
      items={segments}
      rowId={({ key }) => key}
      empty={<Empty title={s.noSegments} />}
    />
  );
}
