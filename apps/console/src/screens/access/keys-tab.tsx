import type { Key } from "@pinakes/client";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { keysKey, keysOptions, revokeKey } from "../../api/keys.ts";
import { moreOf } from "../../api/page.ts";
import { accessStrings } from "../../strings/access.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { keyColumns } from "./key-columns.tsx";
import { NewKeyDialog } from "./new-key.tsx";

const s = accessStrings.keys;
const route = getRouteApi("/shell/access");

export function KeysTab() {
  const navigate = route.useNavigate();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const list = useInfiniteQuery(keysOptions);
  const columns = keyColumns({
    onRevoke: setRevoking,
    onTest: ({ user_id, groups }) =>
      void navigate({ search: (old) => ({ ...old, tab: "test", user: user_id, groups }) }),
  });
  return (
    <div className="flex flex-col gap-4">
      <Button look="main" className="self-start" onClick={() => setMaking(true)}>
        <Plus aria-hidden />
        {s.create}
      </Button>
      <DataTable
        label={s.table}
        columns={columns}
        items={list.data?.items}
        rowId={({ key_id }) => key_id}
        error={list.data === undefined ? list.error : undefined}
        onRetry={() => void list.refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
        more={moreOf(list)}
      />
      {making && <NewKeyDialog onClose={() => setMaking(false)} />}
      {revoking !== undefined && <RevokeKey of={revoking} onClose={() => setRevoking(undefined)} />}
    </div>
  );
}

function RevokeKey({ of: { key_id, name, user_id }, onClose }: { readonly of: Key; readonly onClose: () => void }) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => revokeKey(key_id),
    onSuccess: () => {
      toast(s.revoked);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: keysKey }),
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.revokeTitle}
      action={s.revoke}
      onConfirm={() => revoking.mutate()}
      pending={revoking.isPending}
      error={revoking.error}
    >
      <p className="mb-2 font-medium break-words">{name ?? s.noName}</p>
      <p>{s.revokeAbout(user_id)}</p>
    </Confirm>
  );
}
