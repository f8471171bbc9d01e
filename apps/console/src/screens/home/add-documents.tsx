/** A place to drop files, and the choice of the collection they go to. */
import type { Collection } from "@pinakes/client";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { homeStrings } from "../../strings/home.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { DropZone } from "../documents/drop-zone.tsx";
import { addUploads } from "../documents/upload-queue.ts";
import { isUnused, makeOwn, sampleId } from "./make-collection.ts";

const s = homeStrings.add;
/** In a choice of the browser's own, more would be no help; the collection's own page takes files too. */
const choicesMax = 100;
/** As the server has it. */
const nameCharsMax = 100;

export function AddDocuments({ collections }: { readonly collections: readonly Collection[] }) {
  const writable = collections
    .filter(({ access, status }) => access !== "READ" && access !== null && status === "ACTIVE")
    .slice(0, choicesMax);
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState<string>(s.nameDefault);
  // The sample is for the sample; own files go elsewhere unless the reader says so.
  const first = writable.find((one) => one.collection_id !== sampleId && !isUnused(one));
  const key = chosen ?? (first === undefined ? "" : keyOf(first));
  const target = writable.find((one) => keyOf(one) === key);
  const add = useMutation({
    mutationFn: async (files: readonly File[]) => {
      const place: CollectionId =
        target === undefined ? await makeOwn(name) : { rid: target.repository_id, cid: target.collection_id };
      addUploads(place, files);
      // More files go to the same place.
      setChosen(`${place.rid} ${place.cid}`);
    },
  });
  return (
    <DropZone
      onFiles={(files) => add.mutate(files)}
      disabled={add.isPending || (target === undefined && name.trim() === "")}
    >
      <div className="grid gap-2 sm:grid-cols-2">
        {writable.length > 0 && (
          <Select
            label={s.to}
            value={target === undefined ? "" : key}
            choices={[
              ...writable.map((one) => ({ value: keyOf(one), label: `${one.name} · ${one.repository_name}` })),
              { value: "", label: s.own },
            ]}
            onChoose={setChosen}
          />
        )}
        {target === undefined && (
          <TextField
            label={s.name}
            value={name}
            onChange={({ target: input }) => setName(input.value)}
            required
            maxLength={nameCharsMax}
          />
        )}
      </div>
      {add.isPending && (
        <p role="status" className="text-sm text-soft">
          {s.making}
        </p>
      )}
      {add.error !== null && <ErrorBox error={add.error} />}
    </DropZone>
  );
}

function keyOf({ repository_id, collection_id }: Collection): string {
  return `${repository_id} ${collection_id}`;
}
