/** All findings of a check, at most 10,000 in one response. */
import { type Finding, type FindingKind, findingKinds } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { findingsOptions } from "../../api/fsck.ts";
import { formatNumber } from "../../lib/format.ts";
import { auditStrings } from "../../strings/audit.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Facts } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";

const s = auditStrings.findings;

interface Props {
  readonly jobId: string;
  readonly kind: FindingKind | undefined;
  readonly onKind: (kind: FindingKind | undefined) => void;
}

interface Row extends Finding {
  readonly number: number;
}

export function Findings({ jobId, kind, onKind }: Props) {
  const [opened, setOpened] = useState<Finding>();
  const { data, error, refetch } = useQuery(findingsOptions(jobId));
  const rows = data?.map((finding, number): Row => ({ ...finding, number }));
  const shown = kind === undefined ? rows : rows?.filter((row) => row.kind === kind);
  return (
    <div className="flex flex-col gap-3">
      <Select
        label={s.kind}
        className="w-full sm:w-80"
        value={kind ?? ""}
        choices={[{ value: "", label: s.anyKind(formatNumber(rows?.length ?? 0)) }, ...kindsOf(rows ?? [], kind)]}
        onChoose={(next) => onKind(findingKinds.find((one) => one === next))}
      />
      <DataTable
        label={s.table}
        columns={columns}
        items={shown}
        rowId={({ number }) => String(number)}
        onOpen={setOpened}
        error={data === undefined ? error : undefined}
        onRetry={() => void refetch()}
        empty={<Empty title={s.empty} />}
      />
      {opened !== undefined && <FindingSheet finding={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

function kindsOf(rows: readonly Row[], chosen: FindingKind | undefined) {
  return findingKinds.flatMap((kind) => {
    const count = rows.filter((row) => row.kind === kind).length;
    return count === 0 && kind !== chosen ? [] : [{ value: kind, label: s.one(s.kinds[kind], formatNumber(count)) }];
  });
}

const columns: readonly Column<Row>[] = [
  { id: "kind", header: s.columns.kind, width: "minmax(11rem,1fr)", cell: ({ kind }) => <Cut text={s.kinds[kind]} /> },
  {
    id: "where",
    header: s.columns.where,
    width: "minmax(9rem,1fr)",
    cell: (finding) => <Cut text={labelOf(finding)} />,
  },
  { id: "store", header: s.columns.store, width: "7rem", cell: ({ store }) => store },
  { id: "detail", header: s.columns.detail, width: "minmax(11rem,1.5fr)", cell: ({ detail }) => <Cut text={detail} /> },
  {
    id: "repaired",
    header: s.columns.repaired,
    width: "7rem",
    cell: ({ repaired }) => <Badge tone={repaired ? "good" : "warn"}>{repaired ? s.yes : s.no}</Badge>,
  },
];

function labelOf({ repository_id, collection_id, document_id, key }: Finding): string {
  return [repository_id, collection_id, document_id, key].filter((part) => part !== undefined).join(" / ");
}

function Cut({ text }: { readonly text: string }) {
  return (
    <span className="truncate" title={text}>
      {text}
    </span>
  );
}

function FindingSheet({ finding, onClose }: { readonly finding: Finding; readonly onClose: () => void }) {
  const { kind, store, detail, repaired, repository_id: rid, collection_id: cid, document_id, key } = finding;
  const known = (name: string, value: string | undefined) =>
    value === undefined
      ? []
      : [
          [
            name,
            <code key={name} className="font-mono text-xs break-all">
              {value}
            </code>,
          ] as const,
        ];
  return (
    <Dialog open onClose={onClose} title={s.kinds[kind]} place="side">
      <Facts
        of={[
          [s.columns.detail, detail],
          [s.columns.repaired, repaired ? s.yes : s.no],
          [s.columns.store, store],
          ...known(s.repository, rid),
          ...known(s.collection, cid),
          ...known(s.document, document_id),
          ...known(s.key, key),
        ]}
      />
      {rid !== undefined && cid !== undefined && (
        <Link
          to="/collections/$rid/$cid"
          params={{ rid, cid }}
          className="mt-4 inline-block text-sm text-brand hover:underline"
        >
          {s.toCollection}
        </Link>
      )}
    </Dialog>
  );
}
