import type { Migration, MigrationUnit } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { migrationUnitsOptions } from "../../api/migrations.ts";
import { moreOf } from "../../api/page.ts";
import { formatNumber } from "../../lib/format.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { Badge, Status } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";

const s = migrationStrings.units;
const route = getRouteApi("/shell/migrations/$mid");

const tones = { same: "good", differs: "bad", notCompared: "plain" } as const;

const columns: readonly Column<MigrationUnit>[] = [
  {
    id: "name",
    header: s.columns.name,
    width: "minmax(10rem,1fr)",
    cell: ({ name }) => (
      <span className="truncate font-medium">
        <ShownName of={name} />
      </span>
    ),
  },
  {
    id: "target",
    header: s.columns.target,
    width: "minmax(10rem,1fr)",
    cell: ({ target }) => <span className="truncate">{targetOf(target)}</span>,
  },
  { id: "status", header: s.columns.status, width: "7rem", cell: ({ status }) => <Status value={status} /> },
  { id: "rows", header: s.columns.rows, width: "6rem", align: "right", cell: ({ rows }) => formatNumber(rows) },
  { id: "copied", header: s.columns.copied, width: "6rem", align: "right", cell: ({ copied }) => formatNumber(copied) },
  {
    id: "same",
    header: s.columns.same,
    width: "8rem",
    cell: (unit) => <Badge tone={tones[sameness(unit)]}>{s[sameness(unit)]}</Badge>,
  },
  { id: "old", header: s.columns.old, width: "6rem", cell: ({ old }) => old },
  {
    id: "problems",
    header: s.columns.problems,
    width: "6rem",
    align: "right",
    cell: ({ problems }) => formatNumber(problems.length),
  },
];

export function Units({ migration: { migration_id, updated_at } }: { readonly migration: Migration }) {
  const { unit } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(migrationUnitsOptions(migration_id));
  const { refetch } = list;
  // Units change with the migration.
  useEffect(() => void refetch(), [refetch, updated_at]);
  const items = list.data?.items;
  const shown = items?.find(({ number }) => number === unit);
  const show = (next: number | undefined) => void navigate({ search: { unit: next }, replace: true });
  return (
    <Panel title={s.title}>
      <DataTable
        label={s.table}
        columns={columns}
        items={items}
        rowId={({ number }) => String(number)}
        onOpen={({ number }) => show(number)}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void refetch()}
        empty={<Empty title={s.empty} />}
        more={moreOf(list)}
      />
      {shown !== undefined && <UnitSheet unit={shown} onClose={() => show(undefined)} />}
    </Panel>
  );
}

function UnitSheet({ unit, onClose }: { readonly unit: MigrationUnit; readonly onClose: () => void }) {
  const { name, target, count, hash, held_count, held_hash, differences, problems } = unit;
  const mono = (text: string | null) => <code className="font-mono text-xs break-all">{text ?? "–"}</code>;
  return (
    <Dialog open onClose={onClose} title={name} about={targetOf(target)} place="side">
      <div className="flex flex-col gap-5">
        <Facts
          of={[
            [s.distinct, formatNumber(count)],
            [s.held, held_count === null ? s.notCompared : formatNumber(held_count)],
            [s.hash, mono(hash)],
            [s.heldHash, mono(held_hash)],
          ]}
        />
        <section>
          <h2 className="mb-1 text-sm font-semibold">{s.differences}</h2>
          <p className="text-sm break-words whitespace-pre-wrap">{differences ?? s.noDifferences}</p>
        </section>
        {problems.length > 0 && (
          <section>
            <h2 className="mb-1 text-sm font-semibold">{s.columns.problems}</h2>
            <Facts of={problems.map(({ where, reason }, index) => [`${index + 1}. ${where}`, reason])} />
          </section>
        )}
      </div>
    </Dialog>
  );
}

function targetOf({ repository, user, collection }: MigrationUnit["target"]): string {
  return `${user === undefined ? (repository ?? "") : migrationStrings.units.own(user)} / ${collection}`;
}

/** Equal if both sides have the same number of rows with the same content. */
function sameness({ count, hash, held_count, held_hash }: MigrationUnit): "same" | "differs" | "notCompared" {
  if (held_count === null || held_hash === null) return "notCompared";
  return held_count === count && held_hash === hash ? "same" : "differs";
}
