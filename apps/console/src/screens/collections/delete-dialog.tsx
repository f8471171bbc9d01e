/** Shows what will be deleted and whether it can be restored. */
import type { Collection } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refreshWork } from "../../api/refresh-work.ts";
import { deleteCollection } from "../../api/collection-changes.ts";
import { infoOptions } from "../../api/health.ts";
import { meOptions } from "../../api/identity.ts";
import { isProblem } from "../../api/problem.ts";
import { usageOptions } from "../../api/vectors.ts";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Check } from "../../ui/field.tsx";
import { Facts } from "../../ui/panel.tsx";

const s = collectionStrings.delete;

interface Props {
  readonly collection: Collection;
  readonly onClose: () => void;
  readonly onStarted: (jobId: string) => void;
}

export function DeleteDialog({ collection, onClose, onStarted }: Props) {
  const [purge, setPurge] = useState(false);
  const [allowPartial, setAllowPartial] = useState(false);
  const client = useQueryClient();
  const { repository_id: rid, collection_id: cid, name, etag } = collection;
  const deleting = useMutation({
    mutationFn: () => deleteCollection({ rid, cid }, { purge, ifMatch: etag, allowPartial }),
    onSuccess: ({ job_id }) => {
      onStarted(job_id);
      // Clears the cache, so that the page shows the new state.
      void client.resetQueries({ queryKey: ["collection", rid, cid], exact: true });
      void client.invalidateQueries({ queryKey: ["collections"] });
      void refreshWork(client);
    },
    // Closes on errors, too: the page shows what has changed.
    onError: () => client.invalidateQueries({ queryKey: ["collection", rid, cid], exact: true }),
  });
  const storeCannot = isProblem(deleting.error, 409) && deleting.error.message.startsWith("store_cannot_delete");
  return (
    <Confirm
      open
      onClose={onClose}
      title={s.title(name)}
      action={purge ? s.purgeAction : s.softAction}
      {...(purge ? { typeName: name } : {})}
      onConfirm={() => deleting.mutate()}
      pending={deleting.isPending}
      error={deleting.error}
    >
      <div className="flex flex-col gap-4">
        <WhatGoes collection={collection} />
        <How purge={purge} onChoose={setPurge} />
        {(storeCannot || allowPartial) && <Check label={s.partial} checked={allowPartial} onCheck={setAllowPartial} />}
      </div>
    </Confirm>
  );
}

function WhatGoes({ collection }: { readonly collection: Collection }) {
  const usage = useQuery(usageOptions({ rid: collection.repository_id, cid: collection.collection_id }));
  const triples =
    usage.data === undefined ? (usage.error === null ? s.counting : s.unknown) : formatNumber(usage.data.triples);
  return (
    <section aria-label={s.contents} className="rounded-md border p-3">
      <Facts
        of={[
          [s.documents, formatNumber(collection.document_count)],
          [s.chunks, formatNumber(collection.chunk_count)],
          [s.bytes, formatBytes(collection.total_size_bytes)],
          [s.triples, triples],
        ]}
      />
    </section>
  );
}

function How({ purge, onChoose }: { readonly purge: boolean; readonly onChoose: (purge: boolean) => void }) {
  const me = useQuery(meOptions).data;
  const days = useQuery(infoOptions).data?.trash_days;
  // The server decides, for example for owners of private collections.
  const mayPurge = me !== undefined && (me.role !== "user" || me.permissions.includes("purge"));
  const choices = [
    { value: false, label: s.soft, about: s.softAbout(days), disabled: false },
    { value: true, label: s.purge, about: mayPurge ? s.purgeAbout : s.purgeForbidden, disabled: !mayPurge },
  ];
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-xs font-medium text-soft">{s.mode}</legend>
      {choices.map(({ value, label, about, disabled }) => (
        <label
          key={label}
          className="flex items-start gap-2 rounded-md border p-2 has-checked:border-brand has-disabled:opacity-60"
        >
          <input
            type="radio"
            name="how"
            className="mt-1 accent-brand"
            checked={purge === value}
            disabled={disabled}
            onChange={() => onChoose(value)}
          />
          <span>
            <span className="font-medium">{label}</span>
            <span className="block text-soft">{about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
