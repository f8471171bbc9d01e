import type { Checkpoint } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { moreOf } from "../../api/page.ts";
import { checkpointsOptions } from "../../api/workflows.ts";
import { formatBytes, formatDateTime } from "../../lib/format.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { DataTable, type Column } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/states.tsx";
import { Differences } from "./differences.tsx";
import { differencesOf } from "./json-diff.ts";
import { checkpointKey } from "./timeline.ts";

const s = workflowStrings.checkpoint;
const route = getRouteApi("/shell/workflows/$wid");

/** With the previous one, which may not be loaded yet for the last row. */
interface Row {
  readonly checkpoint: Checkpoint;
  readonly before: Checkpoint | undefined;
  readonly text: string;
}

export function CheckpointsTab({ wid }: { readonly wid: string }) {
  const { checkpoint: key } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(checkpointsOptions(wid));
  const rows = list.data?.items.map((checkpoint, index, all): Row => ({
    checkpoint,
    before: all[index + 1],
    text: JSON.stringify(contentOf(checkpoint)),
  }));
  const opened = rows?.find(({ checkpoint }) => checkpointKey(checkpoint) === key);
  return (
    <>
      <DataTable
        label={s.table}
        columns={columns}
        items={rows}
        rowId={({ checkpoint }) => checkpointKey(checkpoint)}
        onOpen={({ checkpoint }) =>
          void navigate({ search: (old) => ({ ...old, checkpoint: checkpointKey(checkpoint) }) })
        }
        empty={<Empty title={s.nothing}>{s.nothingAbout}</Empty>}
        error={list.error}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
      />
      <Dialog
        open={key !== undefined && rows !== undefined}
        onClose={() => void navigate({ search: (old) => ({ ...old, checkpoint: undefined }) })}
        title={opened === undefined ? s.notFound : s.title(opened.checkpoint.step)}
        about={opened === undefined ? undefined : formatDateTime(opened.checkpoint.timestamp)}
        place="side"
      >
        {opened !== undefined && <Content row={opened} />}
      </Dialog>
    </>
  );
}

const columns: readonly Column<Row>[] = [
  { id: "step", header: s.columns.step, width: "5rem", align: "right", cell: ({ checkpoint }) => checkpoint.step },
  { id: "at", header: s.columns.at, width: "12rem", cell: ({ checkpoint }) => formatDateTime(checkpoint.timestamp) },
  { id: "size", header: s.columns.size, width: "7rem", align: "right", cell: ({ text }) => formatBytes(text.length) },
  {
    id: "changes",
    header: s.columns.changes,
    cell: (row) => (row.before === undefined ? "" : s.fields(changesOf(row).length)),
  },
];

function Content({ row }: { readonly row: Row }) {
  const changes = changesOf(row);
  return (
    <div className="flex flex-col gap-4">
      <section>
        <h3 className="mb-2 text-sm font-semibold">{s.differences}</h3>
        {row.before === undefined ? (
          <p className="text-sm text-soft">{s.first}</p>
        ) : changes.length === 0 ? (
          <p className="text-sm text-soft">{s.same}</p>
        ) : (
          <Differences of={changes} />
        )}
      </section>
      <section>
        <h3 className="mb-2 text-sm font-semibold">{s.content}</h3>
        <CodeEditor
          label={s.content}
          language="json"
          readOnly
          value={JSON.stringify(contentOf(row.checkpoint), null, 2)}
        />
      </section>
    </div>
  );
}

function contentOf({ state, agent_context }: Checkpoint) {
  return { state, agent_context };
}

function changesOf({ checkpoint, before }: Row) {
  return before === undefined ? [] : differencesOf(contentOf(before), contentOf(checkpoint));
}
