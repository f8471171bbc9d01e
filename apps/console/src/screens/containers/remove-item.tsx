/** Deletes the displayed version of an item. After a conflict the current one is shown; confirming again deletes that. */
import type { JsonObject } from "@pinakes/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteItem, readItem, type ItemKey } from "../../api/containers.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { toast } from "../../ui/toast.tsx";
import { useDeleteSeen } from "../../ui/use-delete-seen.ts";
import { Differences } from "../workflows/differences.tsx";
import { differencesOf } from "../workflows/json-diff.ts";
import { contentOf, etagOf } from "./document-text.ts";

const s = containerStrings.item;

interface RemoveItemProps {
  readonly itemKey: ItemKey;
  readonly seen: JsonObject;
  readonly onRemoved: () => void;
}

export function RemoveItem({ itemKey, seen, onRemoved }: RemoveItemProps) {
  const client = useQueryClient();
  const [asked, setAsked] = useState(false);
  const { now, confirm, forget } = useDeleteSeen({
    seen,
    remove: (item) => deleteItem(itemKey, etagOf(item)),
    read: () => readItem(itemKey),
    onDeleted: async () => {
      toast(s.removed);
      onRemoved();
      await client.invalidateQueries({ queryKey: ["containers", itemKey.container, "query"] });
    },
  });
  const close = () => {
    setAsked(false);
    forget();
  };
  return (
    <>
      <Button look="danger" onClick={() => setAsked(true)}>
        {s.remove}
      </Button>
      <Confirm open={asked} onClose={close} title={s.removeTitle(itemKey.id)} action={s.remove} {...confirm}>
        {s.removeAbout}
        {now !== undefined && (
          <div role="alert" className="mt-3 flex flex-col gap-2">
            <h3 className="font-semibold text-bad">{containerStrings.conflict.title}</h3>
            <Differences of={differencesOf(contentOf(seen), contentOf(now))} />
          </div>
        )}
      </Confirm>
    </>
  );
}
