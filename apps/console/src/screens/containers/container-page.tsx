import type { ContainerInfo } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { containerOptions, deleteContainer } from "../../api/containers.ts";
import { containerStrings as s } from "../../strings/containers.ts";
import { Badge } from "../../ui/badge.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Page } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toast.tsx";
import { ChangesTab } from "./changes-tab.tsx";
import { IndexesTab } from "./indexes-tab.tsx";
import { ItemSheet } from "./item-sheet.tsx";
import { ItemsTab } from "./items-tab.tsx";
import { pathsOf } from "./partition-key.ts";
import { QueryTab } from "./query-tab.tsx";

const route = getRouteApi("/shell/containers/$c");

export function ContainerPage() {
  const { c } = route.useParams();
  const container = useQuery(containerOptions(c));
  if (container.data === undefined) {
    return (
      <Page title={c}>
        <Pending of={container} />
      </Page>
    );
  }
  return <One key={c} container={container.data} />;
}

function One({ container }: { readonly container: ContainerInfo }) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const [removing, setRemoving] = useState(false);
  const { name, kind, append_only } = container;
  return (
    <Page
      title={name}
      beside={
        <>
          <Badge tone={kind === "own" ? "brand" : "plain"}>{s.kinds[kind]}</Badge>
          {append_only && <Badge>{s.appendOnly}</Badge>}
        </>
      }
      about={`${s.columns.partitionKey}: ${pathsOf(container.partition_key).join(", ")}`}
      actions={
        kind === "own" && (
          <Menu
            entries={[
              { label: s.remove.label, danger: true, icon: <Trash2 aria-hidden />, onChoose: () => setRemoving(true) },
            ]}
          />
        )
      }
    >
      <Tabs
        label={s.tabs.label}
        value={tab ?? "items"}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, tab: next }), replace: true })}
        tabs={[
          { value: "items", label: s.tabs.items, content: <ItemsTab container={container} /> },
          { value: "query", label: s.tabs.query, content: <QueryTab container={container} /> },
          { value: "indexes", label: s.tabs.indexes, content: <IndexesTab name={name} /> },
          { value: "changes", label: s.tabs.changes, content: <ChangesTab name={name} /> },
        ]}
      />
      <ItemSheet container={container} />
      {removing && <Remove name={name} onClose={() => setRemoving(false)} />}
    </Page>
  );
}

function Remove({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteContainer(name),
    onSuccess: async () => {
      toast(s.remove.done);
      await navigate({ to: "/containers" });
      client.removeQueries({ queryKey: ["containers", name] });
      await client.invalidateQueries({ queryKey: ["containers"] });
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.remove.title(name)}
      action={s.remove.label}
      typeName={name}
      onConfirm={() => remove.mutate()}
      pending={remove.isPending}
      error={remove.error}
    >
      {s.remove.about}
    </Confirm>
  );
}
