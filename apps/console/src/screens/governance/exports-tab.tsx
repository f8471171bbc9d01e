import type { SubjectExport } from "@pinakes/client";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, Plus } from "lucide-react";
import { useState } from "react";
import {
  deleteSubjectExport,
  exportPartAddress,
  exportsAgainMs,
  requestSubjectExport,
  subjectExportsKey,
  subjectExportsOptions,
} from "../../api/governance.ts";
import { moreOf } from "../../api/page.ts";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Status } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Empty, ErrorBox } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { toast, toastError } from "../../ui/toast.tsx";
import { emptySubject, pathsOf, SubjectFields, subjectOf } from "./subject-fields.tsx";

const s = governanceStrings.exports;

export function ExportsTab() {
  const [creating, setCreating] = useState(false);
  const client = useQueryClient();
  const list = useInfiniteQuery({
    ...subjectExportsOptions,
    refetchInterval: ({ state }) => exportsAgainMs(state.data?.pages.flatMap(({ items }) => items)),
  });
  const deleting = useMutation({
    mutationFn: ({ export_id }: SubjectExport) => deleteSubjectExport(export_id),
    onSuccess: () => toast(s.removed),
    onError: (error) => toastError(s.remove, error),
    onSettled: () => client.invalidateQueries({ queryKey: subjectExportsKey }),
  });
  return (
    <div className="flex flex-col gap-4">
      <Button look="main" className="self-start" onClick={() => setCreating(true)}>
        <Plus aria-hidden />
        {s.create}
      </Button>
      <DataTable
        label={s.table}
        columns={exportColumns((row) => deleting.mutate(row))}
        items={list.data?.items}
        rowId={({ export_id }) => export_id}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
        more={moreOf(list)}
      />
      {creating && <NewExportDialog onClose={() => setCreating(false)} />}
    </div>
  );
}

function NewExportDialog({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(emptySubject);
  const client = useQueryClient();
  const starting = useMutation({
    mutationFn: () => requestSubjectExport({ subject: subjectOf(draft), ...pathsOf(draft) }),
    onSuccess: () => {
      toast(s.started);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: subjectExportsKey }),
  });
  return (
    <Dialog open onClose={onClose} title={s.create} about={s.emptyAbout} unsaved={draft !== emptySubject}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!starting.isPending) starting.mutate();
        }}
      >
        <SubjectFields value={draft} onChange={setDraft} />
        {starting.error !== null && <ErrorBox error={starting.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={starting.isPending}>
            {starting.isPending ? s.submitting : s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function nameOf({ subject }: SubjectExport): string {
  return `${governanceStrings.subject.types[subject.type]}: ${subject.id}`;
}

function Parts({ of: { export_id, parts, error } }: { readonly of: SubjectExport }) {
  if (error !== null)
    return (
      <span className="truncate text-bad" title={error}>
        {error}
      </span>
    );
  return (
    <span className="flex min-w-0 flex-wrap gap-1">
      {parts.map(({ part, bytes }) => (
        <a
          key={part}
          href={exportPartAddress(export_id, part)}
          download={`${export_id}-${part}.zip`}
          className={buttonClass("plain", "small")}
        >
          <Download aria-hidden />
          {s.part(part, formatBytes(bytes))}
        </a>
      ))}
    </span>
  );
}

const exportColumns = (onDelete: (row: SubjectExport) => void): readonly Column<SubjectExport>[] => [
  {
    id: "subject",
    header: s.columns.subject,
    width: "minmax(9rem,1fr)",
    cell: (row) => (
      <span className="truncate" title={shownName(nameOf(row))}>
        <ShownName of={nameOf(row)} />
      </span>
    ),
  },
  { id: "state", header: s.columns.state, width: "6rem", cell: ({ state }) => <Status value={state} /> },
  {
    id: "rows",
    header: s.columns.rows,
    width: "5rem",
    align: "right",
    cell: ({ rows }) => formatNumber(rows.reduce((total, { own, mentions }) => total + own + mentions, 0)),
  },
  { id: "parts", header: s.columns.parts, width: "minmax(10rem,1.2fr)", cell: (row) => <Parts of={row} /> },
  { id: "created", header: s.columns.created, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
  { id: "expires", header: s.columns.expires, width: "7rem", cell: ({ expires_at }) => <Ago at={expires_at} /> },
  {
    id: "actions",
    header: s.columns.actions,
    width: "5.5rem",
    cell: (row) => (
      <Button size="small" aria-label={s.removeFor(nameOf(row))} onClick={() => onDelete(row)}>
        {s.remove}
      </Button>
    ),
  },
];
