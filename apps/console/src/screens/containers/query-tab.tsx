/** SQL query, plan and results. The executed query is in the URL. */
import type { ContainerInfo, JsonValue } from "@pinakes/client";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useState } from "react";
import { explainOptions, sqlOptions, type SqlQuestion } from "../../api/containers.ts";
import { moreOf } from "../../api/page.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { resultColumns } from "./document-columns.tsx";
import { isObject, pathsOf, pkOf, readPk } from "./partition-key.ts";
import { QueryPlanPanel } from "./query-plan-panel.tsx";

const s = containerStrings.query;
const route = getRouteApi("/shell/containers/$c");

export function QueryTab({ container }: { readonly container: ContainerInfo }) {
  const { sql, sqlPk, plan } = route.useSearch();
  const pk = sqlPk === undefined ? undefined : readPk(sqlPk);
  const question = sql === undefined || pk === null ? undefined : { query: sql, ...(pk === undefined ? {} : { pk }) };
  return (
    <div className="flex flex-col gap-3">
      <QueryBox name={container.name} badPk={pk === null} />
      {plan === true && question !== undefined && <Explained name={container.name} question={question} />}
      {question === undefined ? (
        <Empty title={s.before}>{s.beforeAbout}</Empty>
      ) : (
        <Results container={container} question={question} advise={plan !== true} />
      )}
    </div>
  );
}

function QueryBox({ name, badPk }: { readonly name: string; readonly badPk: boolean }) {
  const client = useQueryClient();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search.sql ?? s.first);
  const [pk, setPk] = useState(search.sqlPk ?? "");
  const run = async (plan: true | undefined, sql = text) => {
    await navigate({ search: (old) => ({ ...old, sql, sqlPk: pk === "" ? undefined : pk, plan }), replace: true });
    // Running the same query again refetches it.
    await client.invalidateQueries({ queryKey: ["containers", name, plan === true ? "explain" : "query"] });
  };
  return (
    <div className="flex flex-col gap-3">
      <CodeEditor
        label={s.label}
        language="sql"
        value={text}
        onChange={setText}
        onRun={(now) => void run(search.plan, now)}
      />
      <div className="flex flex-wrap items-start gap-3">
        <TextField
          className="w-72"
          label={s.partition}
          autoComplete="off"
          spellCheck={false}
          error={badPk ? containerStrings.items.badPartition : undefined}
          value={pk}
          onChange={({ target }) => setPk(target.value)}
        />
        <div className="mt-5 flex items-center gap-2">
          <Button look="main" onClick={() => void run(search.plan)}>
            <Play aria-hidden />
            {s.run}
          </Button>
          <Button aria-pressed={search.plan === true} onClick={() => void run(search.plan === true ? undefined : true)}>
            {s.explain}
          </Button>
          <span className="text-xs text-soft">{s.hint}</span>
        </div>
      </div>
    </div>
  );
}

function Explained({ name, question }: { readonly name: string; readonly question: SqlQuestion }) {
  const plan = useQuery(explainOptions(name, question));
  return plan.data === undefined ? null : <QueryPlanPanel plan={plan.data} />;
}

interface Row {
  readonly value: JsonValue;
  readonly number: number;
}

interface ResultsProps {
  readonly container: ContainerInfo;
  readonly question: SqlQuestion;
  /** Unless the plan already shows it. */
  readonly advise: boolean;
}

function Results({ container, question, advise }: ResultsProps) {
  const navigate = route.useNavigate();
  const [shown, setShown] = useState<Row>();
  const list = useInfiniteQuery(sqlOptions(container.name, question));
  const rows = list.data?.items.map((value, number): Row => ({ value, number }));
  const open = (row: Row) => {
    const { value } = row;
    const itemPk = isObject(value) ? pkOf(value, pathsOf(container.partition_key)) : undefined;
    // Only whole documents can be edited; a projection is shown as it is.
    if (
      isObject(value) &&
      typeof value["_etag"] === "string" &&
      typeof value["id"] === "string" &&
      itemPk !== undefined
    ) {
      void navigate({ search: (old) => ({ ...old, item: value["id"] as string, itemPk }) });
    } else setShown(row);
  };
  return (
    <>
      {advise && list.data?.advice !== undefined && <p className="text-sm text-soft">{list.data.advice}</p>}
      <DataTable
        label={s.results}
        columns={resultColumns(list.data?.items ?? [])}
        items={rows}
        rowId={({ number }) => String(number)}
        onOpen={open}
        empty={<Empty title={s.nothing} />}
        error={list.error}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
      />
      <Dialog open={shown !== undefined} onClose={() => setShown(undefined)} title={s.row} place="side">
        {shown !== undefined && (
          <CodeEditor label={s.row} language="json" readOnly value={JSON.stringify(shown.value, null, 2)} />
        )}
      </Dialog>
    </>
  );
}
