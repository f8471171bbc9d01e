import type { ContainerInfo, JsonObject } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { sqlOptions } from "../../api/containers.ts";
import { moreOf } from "../../api/page.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { TextField } from "../../ui/field.tsx";
import { Empty } from "../../ui/states.tsx";
import { itemColumns } from "./document-columns.tsx";
import { NewItem } from "./new-item.tsx";
import { isObject, pathsOf, pkOf, readPk } from "./partition-key.ts";

const s = containerStrings.items;
const route = getRouteApi("/shell/containers/$c");

export function ItemsTab({ container }: { readonly container: ContainerInfo }) {
  const { pk } = route.useSearch();
  const navigate = route.useNavigate();
  const [creating, setCreating] = useState(false);
  const paths = pathsOf(container.partition_key);
  const partition = pk === undefined ? undefined : readPk(pk);
  const question =
    partition === null
      ? undefined
      : { query: containerStrings.query.first, ...(partition === undefined ? {} : { pk: partition }) };
  const list = useInfiniteQuery(sqlOptions(container.name, question));
  const items = list.data?.items.filter(isObject);
  const open = (item: JsonObject) => {
    const itemPk = pkOf(item, paths);
    if (typeof item["id"] === "string" && itemPk !== undefined)
      void navigate({ search: (old) => ({ ...old, item: item["id"] as string, itemPk }) });
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-start gap-3">
        <PartitionBox
          key={pk ?? ""}
          pk={pk}
          bad={partition === null}
          onShow={(next) => void navigate({ search: (old) => ({ ...old, pk: next }), replace: true })}
        />
        <div className="flex-1" />
        <Button className="mt-5" onClick={() => setCreating(true)}>
          <Plus aria-hidden />
          {s.create}
        </Button>
      </div>
      <DataTable
        label={s.table(container.name)}
        columns={itemColumns(items ?? [], paths)}
        items={partition === null ? [] : items}
        rowId={(item) => JSON.stringify([pkOf(item, paths), item["id"]])}
        onOpen={open}
        empty={
          <Empty title={pk === undefined ? s.nothing : s.nothingHere}>
            {pk === undefined ? s.nothingAbout : undefined}
          </Empty>
        }
        error={list.error}
        onRetry={() => void list.refetch()}
        more={moreOf(list)}
      />
      {creating && <NewItem container={container} onClose={() => setCreating(false)} />}
    </div>
  );
}

interface PartitionBoxProps {
  readonly pk: string | undefined;
  readonly bad: boolean;
  readonly onShow: (pk: string | undefined) => void;
}

function PartitionBox({ pk, bad, onShow }: PartitionBoxProps) {
  const [typed, setTyped] = useState(pk ?? "");
  return (
    <form
      className="flex min-w-0 flex-1 basis-72 items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onShow(typed === "" ? undefined : typed);
      }}
    >
      <TextField
        className="max-w-md flex-1"
        label={s.partition}
        hint={s.partitionHint}
        error={bad ? s.badPartition : undefined}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Button type="submit" className="mt-5">
        {s.show}
      </Button>
    </form>
  );
}
