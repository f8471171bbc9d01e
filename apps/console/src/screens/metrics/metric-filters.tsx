import { aggregates } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { aggregateOptions } from "../../api/aggregates.ts";
import { metricGroups, metricNamesOptions, metricTypes } from "../../api/agent-metrics.ts";
import { metricStrings as s } from "../../strings/metrics.ts";
import { Select } from "../../ui/field.tsx";
import type { MetricChoice } from "./metric-choice.ts";
import { groupName, typeLabel } from "./metric-names.ts";
import { RangeFields } from "./range-fields.tsx";
import { bucketNames } from "./range.ts";
import type { MetricSearch } from "./routes.ts";

const route = getRouteApi("/shell/agent-metrics");

export function MetricFilters({ choice }: { readonly choice: MetricChoice }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const names = useQuery(metricNamesOptions());
  const types = withChosen([...metricTypes, ...(names.data?.types ?? [])], choice.type);
  const groups = withChosen(
    [...metricGroups, ...(names.data?.dimensions ?? [])],
    choice.group === "none" ? undefined : choice.group,
  );
  const set = (next: MetricSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Select
        label={s.type}
        className="w-48"
        value={choice.type}
        choices={types.map((value) => ({ value, label: typeLabel(value) }))}
        onChoose={(type) => set({ type, measure: undefined })}
      />
      <RangeFields search={search} onChange={set} />
      <AgentChoice choice={choice} onChoose={(agent) => set({ agent })} />
      <Select
        label={s.group}
        className="w-44"
        value={choice.group}
        choices={[{ value: "none", label: s.noGroup }, ...groups.map((value) => ({ value, label: groupName(value) }))]}
        onChoose={(group) => set({ group })}
      />
      <Select
        label={s.measure}
        className="w-40"
        value={choice.measure}
        choices={aggregates.map((value) => ({ value, label: s.measures[value] }))}
        onChoose={(measure) => set({ measure })}
      />
      <Select
        label={s.bucket}
        className="w-32"
        value={search.bucket ?? ""}
        choices={[
          { value: "", label: s.bucketAuto },
          ...bucketNames.map((value) => ({ value, label: s.buckets[value] })),
        ]}
        onChoose={(bucket) => set({ bucket: bucketNames.find((one) => one === bucket) })}
      />
    </div>
  );
}

/** The value of the URL is always offered, even if unused. */
function withChosen<Value extends string>(known: readonly Value[], chosen: Value | undefined): readonly Value[] {
  return chosen === undefined || known.includes(chosen) ? known : [...known, chosen];
}

/** Agents with data in the range; the selected one is always included. */
function AgentChoice({
  choice: { range, type, agent },
  onChoose,
}: {
  readonly choice: MetricChoice;
  readonly onChoose: (agent: string | undefined) => void;
}) {
  const { from, to } = range;
  const seen = useQuery(
    aggregateOptions("metrics", {
      from,
      to,
      aggregates: ["count"],
      group_by: ["agent_id"],
      filter: { metric_type: type },
    }),
  );
  const ids = seen.data?.items.map(({ group }) => group["agent_id"]).filter((id) => typeof id === "string") ?? [];
  const all = agent === undefined || ids.includes(agent) ? ids : [agent, ...ids];
  return (
    <Select
      label={s.agent}
      className="w-44"
      value={agent ?? ""}
      choices={[{ value: "", label: s.anyAgent }, ...all.map((id) => ({ value: id, label: id }))]}
      onChoose={(id) => onChoose(id === "" ? undefined : id)}
    />
  );
}
