import { type Workflow, type WorkflowStatus, workflowTypes } from "@pinakes/client";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { moreOf } from "../../api/page.ts";
import { workflowsOptions, workflowStatsOptions, workflowStatuses } from "../../api/workflows.ts";
import { cx } from "../../lib/class-names.ts";
import { workflowStrings as s } from "../../strings/workflows.ts";
import { Status } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Select } from "../../ui/field.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Page } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { StepBar } from "./step-bar.tsx";

const route = getRouteApi("/shell/workflows");

export function WorkflowsPage() {
  const client = useQueryClient();
  return (
    <Page
      fill
      title={s.title}
      about={s.about}
      actions={
        <Button onClick={() => void client.invalidateQueries({ queryKey: ["workflows"] })}>
          <RefreshCw aria-hidden />
          {s.refresh}
        </Button>
      }
    >
      <Filters />
      <List />
    </Page>
  );
}

function Filters() {
  const { status, type, order } = route.useSearch();
  const navigate = route.useNavigate();
  const stats = useQuery(workflowStatsOptions).data;
  const choose = (next: WorkflowStatus | undefined) =>
    void navigate({ search: (old) => ({ ...old, status: next }), replace: true });
  const chips = [undefined, ...workflowStatuses].map((value) => ({
    value,
    label: s.withCount(
      value === undefined ? s.all : s.words(value),
      value === undefined ? stats?.total : stats?.by_status[value],
    ),
  }));
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div
        role="group"
        aria-label={s.statusFilter}
        className="flex min-w-0 basis-full flex-wrap gap-1 min-[90rem]:basis-auto"
      >
        {chips.map(({ value, label }) => (
          <button
            key={label}
            type="button"
            aria-pressed={status === value}
            className={buttonClass("plain", "small", cx(status === value && "border-brand bg-brand-soft text-brand"))}
            onClick={() => choose(value)}
          >
            {label}
          </button>
        ))}
      </div>
      <Select
        label={s.type}
        className="w-44"
        value={type ?? ""}
        choices={[
          { value: "", label: s.anyType },
          ...workflowTypes.map((value) => ({ value, label: s.withCount(s.words(value), stats?.by_type[value]) })),
        ]}
        onChoose={(next) =>
          void navigate({
            search: (old) => ({ ...old, type: workflowTypes.find((one) => one === next) }),
            replace: true,
          })
        }
      />
      <Select
        label={s.order}
        className="w-36"
        value={order ?? "desc"}
        choices={[
          { value: "desc", label: s.orders.desc },
          { value: "asc", label: s.orders.asc },
        ]}
        onChoose={(next) =>
          void navigate({ search: (old) => ({ ...old, order: next === "asc" ? next : undefined }), replace: true })
        }
      />
    </div>
  );
}

const columns: readonly Column<Workflow>[] = [
  {
    id: "name",
    header: s.columns.name,
    width: "minmax(12rem,2fr)",
    cell: ({ name }) => (
      <span className="truncate font-medium">
        <ShownName of={name} />
      </span>
    ),
  },
  { id: "status", header: s.columns.status, width: "7rem", cell: ({ status }) => <Status value={status} /> },
  { id: "type", header: s.columns.type, width: "7rem", cell: ({ type }) => s.words(type) },
  { id: "steps", header: s.columns.steps, width: "10rem", cell: (workflow) => <StepBar workflow={workflow} /> },
  { id: "agents", header: s.columns.agents, width: "5rem", align: "right", cell: ({ agents }) => agents.length },
  {
    id: "owner",
    header: s.columns.owner,
    width: "7rem",
    cell: ({ metadata }) => <span className="truncate">{metadata.created_by}</span>,
  },
  { id: "created", header: s.columns.created, width: "7rem", cell: ({ created_at }) => <Ago at={created_at} /> },
  { id: "updated", header: s.columns.updated, width: "7rem", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

function List() {
  const { status, type, order } = route.useSearch();
  const navigate = useNavigate();
  const list = useInfiniteQuery(workflowsOptions({ status, type, order }));
  const filtered = status !== undefined || type !== undefined;
  return (
    <DataTable
      className="max-h-none flex-1"
      label={s.table}
      columns={columns}
      items={list.data?.items}
      rowId={({ workflow_id }) => workflow_id}
      onOpen={({ workflow_id: wid }) => void navigate({ to: "/workflows/$wid", params: { wid } })}
      empty={filtered ? <Empty title={s.nothingFiltered} /> : <Empty title={s.nothing}>{s.nothingAbout}</Empty>}
      error={list.error}
      onRetry={() => void list.refetch()}
      more={moreOf(list)}
    />
  );
}
