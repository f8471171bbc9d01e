import { getRouteApi } from "@tanstack/react-router";
import { toolGroups, type ToolQuery } from "../../api/tool-log.ts";
import { formatMs, formatNumber } from "../../lib/format.ts";
import { metricStrings } from "../../strings/metrics.ts";
import { toolStrings } from "../../strings/tools.ts";
import { Select } from "../../ui/field.tsx";
import { AggregateChart } from "../metrics/aggregate-chart.tsx";
import { AggregateTable } from "../metrics/aggregate-table.tsx";
import { bucketFor, type TimeRange } from "../metrics/range.ts";
import { toolMeasures } from "./routes.ts";

const s = toolStrings.aggregates;
const route = getRouteApi("/shell/tools");

export function ToolFigures({ query, range }: { readonly query: ToolQuery; readonly range: TimeRange }) {
  const { measure = "count", group = "status" } = route.useSearch();
  const navigate = route.useNavigate();
  const { from, to, ...filter } = query;
  const question = {
    from,
    to,
    group_by: [group],
    filter: Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >,
  };
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-3">
        <Select
          label={s.measure}
          className="w-52"
          value={measure}
          choices={toolMeasures.map((value) => ({ value, label: s.measures[value] }))}
          onChoose={(next) => void navigate({ search: (old) => ({ ...old, measure: next }), replace: true })}
        />
        <Select
          label={s.group}
          className="w-36"
          value={group}
          choices={toolGroups.map((value) => ({ value, label: metricStrings.groups[value] }))}
          onChoose={(next) => void navigate({ search: (old) => ({ ...old, group: next }), replace: true })}
        />
      </div>
      <AggregateChart
        title={s.title(s.measures[measure])}
        source="tool-invocations"
        question={question}
        bucket={bucketFor(range)}
        measure={measure}
        measureLabel={s.measures[measure]}
        format={measure === "count" ? formatNumber : formatMs}
      />
      <h2 className="text-sm font-semibold">{s.byGroup}</h2>
      <AggregateTable source="tool-invocations" question={question} format={formatMs} />
    </div>
  );
}
