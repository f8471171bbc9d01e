import { auditFormats, auditOutcomes, auditVerbs } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download, RefreshCw, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { auditExportAddress, auditLogOptions } from "../../api/audit-log.ts";
import { moreOf } from "../../api/page.ts";
import { auditLogStrings as s } from "../../strings/audit-log.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { RangeFields } from "../metrics/range-fields.tsx";
import { useTimeRange } from "../metrics/range.ts";
import { CheckpointDialog } from "./checkpoint-dialog.tsx";
import { entryColumns } from "./entry-columns.tsx";
import { EntrySheet } from "./entry-sheet.tsx";
import type { AuditLogSearch } from "./routes.ts";

const route = getRouteApi("/shell/audit-log");

export function AuditLogPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [range, refresh] = useTimeRange(search);
  const set = (next: AuditLogSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const { actor, verb, outcome, resource } = search;
  const list = useInfiniteQuery(auditLogOptions({ actor, verb, outcome, resource, from: range.from, to: range.to }));
  const open = list.data?.items.find(({ index }) => index === search.entry);
  const filtered = actor !== undefined || verb !== undefined || outcome !== undefined || resource !== undefined;
  return (
    <Page title={s.title} about={s.about} actions={<Actions onRefresh={refresh} />}>
      <Filters search={search} onChange={set} />
      <DataTable
        label={s.table}
        columns={entryColumns}
        items={list.data?.items}
        rowId={({ index }) => String(index)}
        onOpen={({ index }) => set({ entry: index })}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={<Empty title={filtered ? s.nothing : s.empty}>{s.emptyAbout}</Empty>}
        more={moreOf(list)}
      />
      {open !== undefined && <EntrySheet entry={open} onClose={() => set({ entry: undefined })} />}
    </Page>
  );
}

function Filters({
  search,
  onChange,
}: {
  readonly search: AuditLogSearch;
  readonly onChange: (next: AuditLogSearch) => void;
}) {
  return (
    <div className="flex flex-wrap items-end gap-3">
      <FilterField
        label={s.filters.actor}
        className="w-full sm:w-44"
        value={search.actor}
        onFilter={(actor) => onChange({ actor })}
      />
      <FilterField
        label={s.filters.resource}
        className="w-full sm:w-52"
        value={search.resource}
        onFilter={(resource) => onChange({ resource })}
      />
      <Select
        label={s.filters.verb}
        className="w-36"
        value={search.verb ?? ""}
        choices={[
          { value: "", label: s.filters.anyVerb },
          ...auditVerbs.map((value) => ({ value, label: value.replaceAll("_", " ") })),
        ]}
        onChoose={(next) => onChange({ verb: auditVerbs.find((one) => one === next) })}
      />
      <Select
        label={s.filters.outcome}
        className="w-36"
        value={search.outcome ?? ""}
        choices={[
          { value: "", label: s.filters.anyOutcome },
          ...auditOutcomes.map((value) => ({ value, label: s.outcomes[value] })),
        ]}
        onChoose={(next) => onChange({ outcome: auditOutcomes.find((one) => one === next) })}
      />
      <RangeFields search={search} onChange={onChange} />
    </div>
  );
}

function Actions({ onRefresh }: { readonly onRefresh: () => void }) {
  const [proof, setProof] = useState(false);
  return (
    <>
      {auditFormats.map((format) => (
        <a key={format} href={auditExportAddress(format)} download={`audit.${format}`} className={buttonClass()}>
          <Download aria-hidden />
          {s.export[format]}
        </a>
      ))}
      <Button onClick={() => setProof(true)}>
        <ShieldCheck aria-hidden />
        {s.proof.open}
      </Button>
      <Button onClick={onRefresh}>
        <RefreshCw aria-hidden />
        {s.refresh}
      </Button>
      {proof && <CheckpointDialog onClose={() => setProof(false)} />}
    </>
  );
}
