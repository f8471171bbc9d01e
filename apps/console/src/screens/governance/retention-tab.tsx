import type { RetentionRule } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { retentionOptions } from "../../api/governance.ts";
import { formatNumber } from "../../lib/format.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";
import { ChangeRetention } from "./change-retention.tsx";

const s = governanceStrings.retention;
const daySeconds = 86_400;

export function RetentionTab() {
  const [changing, setChanging] = useState<RetentionRule>();
  const { data, error, refetch } = useQuery(retentionOptions);
  return (
    <>
      <DataTable
        label={s.table}
        columns={ruleColumns(setChanging)}
        items={data}
        rowId={({ name }) => name}
        error={data === undefined ? error : undefined}
        onRetry={() => void refetch()}
        empty={null}
      />
      {changing !== undefined && <ChangeRetention rule={changing} onClose={() => setChanging(undefined)} />}
    </>
  );
}

function lifetimeText(seconds: number | null): string {
  if (seconds === null) return s.never;
  if (seconds === -1) return s.own;
  return seconds % daySeconds === 0 ? s.days(formatNumber(seconds / daySeconds)) : s.seconds(formatNumber(seconds));
}

const ruleColumns = (onChange: (rule: RetentionRule) => void): readonly Column<RetentionRule>[] => [
  {
    id: "name",
    header: s.columns.name,
    width: "minmax(11rem,1fr)",
    cell: ({ name }) => (
      <span className="truncate font-medium" title={name}>
        <ShownName of={name} />
      </span>
    ),
  },
  { id: "lifetime", header: s.columns.lifetime, width: "8rem", cell: ({ seconds }) => lifetimeText(seconds) },
  {
    id: "default",
    header: s.columns.default,
    width: "8rem",
    cell: ({ default_seconds }) => lifetimeText(default_seconds),
  },
  {
    id: "unit",
    header: s.columns.unit,
    width: "minmax(12rem,1.2fr)",
    cell: ({ unit }) => (
      <span className="truncate" title={unit}>
        {unit}
      </span>
    ),
  },
  {
    id: "changed",
    header: s.columns.changed,
    width: "minmax(8rem,.8fr)",
    cell: ({ changeable, setting }) => (
      <span className="truncate" title={setting ?? undefined}>
        {changeable ? s.api : (setting ?? s.fixed)}
      </span>
    ),
  },
  {
    id: "actions",
    header: s.columns.actions,
    width: "6rem",
    cell: (rule) =>
      rule.changeable ? (
        <Button size="small" aria-label={s.changeFor(rule.name)} onClick={() => onChange(rule)}>
          {s.change}
        </Button>
      ) : null,
  },
];
