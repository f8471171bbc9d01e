import type { Migration } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { migrationListOptions } from "../../api/migrations.ts";
import { moreOf } from "../../api/page.ts";
import { formatNumber } from "../../lib/format.ts";
import { migrationStrings as s } from "../../strings/migrations.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { NewMigrationDialog } from "./new-migration.tsx";
import { kindName, StateBadge } from "./state-badge.tsx";

const route = getRouteApi("/shell/migrations");

const columns: readonly Column<Migration>[] = [
  {
    id: "kind",
    header: s.columns.kind,
    width: "9rem",
    cell: ({ kind }) => <span className="truncate font-medium">{kindName(kind, "kindsShort")}</span>,
  },
  { id: "state", header: s.columns.state, width: "7rem", cell: (migration) => <StateBadge migration={migration} /> },
  {
    id: "source",
    header: s.columns.source,
    width: "minmax(14rem,1fr)",
    cell: ({ source }) => <Source source={source} />,
  },
  {
    id: "units",
    header: s.columns.units,
    width: "6.5rem",
    align: "right",
    cell: ({ unit_count }) => formatNumber(unit_count),
  },
  {
    id: "rows",
    header: s.columns.rows,
    width: "5.5rem",
    align: "right",
    cell: ({ row_count }) => formatNumber(row_count),
  },
  {
    id: "problems",
    header: s.columns.problems,
    width: "5.5rem",
    align: "right",
    cell: ({ problem_count: count }) => (count === 0 ? "0" : <Badge tone="bad">{formatNumber(count)}</Badge>),
  },
  { id: "started", header: s.columns.started, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    id: "by",
    header: s.columns.by,
    width: "5.5rem",
    cell: ({ created_by }) => <span className="truncate">{created_by}</span>,
  },
];

export function MigrationsPage() {
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(migrationListOptions);
  const open = (next: true | undefined) => void navigate({ search: { create: next }, replace: true });
  const button = (
    <Button look="main" onClick={() => open(true)}>
      <Plus aria-hidden />
      {s.create}
    </Button>
  );
  const show = (id: string) => void navigate({ to: "/migrations/$mid", params: { mid: id } });
  return (
    <Page title={s.title} about={s.about} actions={button}>
      <DataTable
        label={s.table}
        columns={columns}
        items={list.data?.items}
        rowId={({ migration_id }) => migration_id}
        onOpen={({ migration_id }) => show(migration_id)}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
        more={moreOf(list)}
      />
      {create === true && <NewMigrationDialog onClose={() => open(undefined)} onMade={show} />}
    </Page>
  );
}

function Source({ source }: Pick<Migration, "source">) {
  const text = sourceWords(source);
  return (
    <code className="truncate font-mono text-xs" title={text}>
      {text}
    </code>
  );
}

/** A source in one line: from and to of a move, the input of other kinds. */
function sourceWords({ kind, ...told }: Migration["source"]): string {
  if (kind !== "collection") return JSON.stringify(told);
  const { repository, collection, to } = told as unknown as Place & { readonly to: Place };
  return `${repository}/${collection} → ${to.repository}/${to.collection}`;
}

/** As the server stores it: with all ids. */
interface Place {
  readonly repository: string;
  readonly collection: string;
}
