import { toolStatuses } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { aggregateOptions } from "../../api/aggregates.ts";
import type { ToolQuery } from "../../api/tool-log.ts";
import { toolStrings as s } from "../../strings/tools.ts";
import { Select } from "../../ui/field.tsx";
import { RangeFields } from "../metrics/range-fields.tsx";
import type { ToolSearch } from "./routes.ts";

const route = getRouteApi("/shell/tools");

export function ToolFilters({ query }: { readonly query: ToolQuery }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (next: ToolSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Seen
        label={s.tool}
        all={s.anyTool}
        group="tool_name"
        query={query}
        value={search.tool}
        onChoose={(tool) => set({ tool })}
      />
      <Seen
        label={s.agent}
        all={s.anyAgent}
        group="agent_id"
        query={query}
        value={search.agent}
        onChoose={(agent) => set({ agent })}
      />
      <Select
        label={s.status}
        className="w-36"
        value={search.status ?? ""}
        choices={[
          { value: "", label: s.anyStatus },
          ...toolStatuses.map((value) => ({ value, label: s.statuses[value] })),
        ]}
        onChoose={(next) => set({ status: toolStatuses.find((one) => one === next) })}
      />
      <RangeFields search={search} onChange={set} />
    </div>
  );
}

interface SeenProps {
  readonly label: string;
  readonly all: string;
  readonly group: "tool_name" | "agent_id";
  readonly query: ToolQuery;
  readonly value: string | undefined;
  readonly onChoose: (value: string | undefined) => void;
}

/** Tools or agents in the log of this range; the selected one is always included. */
function Seen({ label, all, group, query: { from, to }, value, onChoose }: SeenProps) {
  const seen = useQuery(aggregateOptions("tool-invocations", { from, to, aggregates: ["count"], group_by: [group] }));
  const names = seen.data?.items.map((row) => row.group[group]).filter((name) => typeof name === "string") ?? [];
  const offered = value === undefined || names.includes(value) ? names : [value, ...names];
  return (
    <Select
      label={label}
      className="w-48"
      value={value ?? ""}
      choices={[{ value: "", label: all }, ...offered.map((name) => ({ value: name, label: name }))]}
      onChoose={(name) => onChoose(name === "" ? undefined : name)}
    />
  );
}
