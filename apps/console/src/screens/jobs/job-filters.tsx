import { jobStatuses } from "@pinakes/client";
import { getRouteApi } from "@tanstack/react-router";
import { jobStrings } from "../../strings/jobs.ts";
import { Select } from "../../ui/field.tsx";
import { FilterField } from "../../ui/filter-field.tsx";
import type { JobSearch } from "./routes.ts";

const s = jobStrings.filters;
const route = getRouteApi("/shell/jobs");

export function JobFilters() {
  const { status, kind, q } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (next: JobSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const kinds = Object.entries(jobStrings.kinds).map(([value, label]) => ({ value, label }));
  const offered = kind === undefined || kind in jobStrings.kinds ? kinds : [...kinds, { value: kind, label: kind }];
  return (
    <div className="flex flex-wrap items-end gap-3">
      <FilterField label={s.text} className="w-full sm:w-64" value={q} onFilter={(next) => set({ q: next })} />
      <Select
        label={s.status}
        className="w-36"
        value={status ?? ""}
        choices={[{ value: "", label: s.anyStatus }, ...jobStatuses.map((value) => ({ value, label: value }))]}
        onChoose={(next) => set({ status: jobStatuses.find((one) => one === next) })}
      />
      <Select
        label={s.kind}
        className="w-44"
        value={kind ?? ""}
        choices={[{ value: "", label: s.anyKind }, ...offered]}
        onChoose={(next) => set({ kind: next === "" ? undefined : next })}
      />
    </div>
  );
}
