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
/** Limits the native select; a collection's own page also accepts files. */
const choicesMax = 100;
/** The server's default. */
const nameCharsMax = 100;

export function AddDocuments({ collections }: { readonly collections: readonly Collection[] }) {
  const writable = collections
    .filter(({ access, status }) => access !== "READ" && access !== null && status === "ACTIVE")
    .slice(0, choicesMax);
  const [chosen, setChosen] = useState<string>();
  const [name, setName] = useState<string>(s.nameDefault);
  // The user's files do not go into the sample collection unless chosen.
  const first = writable.find((one) => one.collection_id !== sampleId && !isUnused(one));
  const key = chosen ?? (first === undefined ? "" : keyOf(first));
  const target = writable.find((one) => keyOf(one) === key);
  const add = useMutation({
    mutationFn: async (files: readonly File[]) => {
      const place: CollectionId =
        target === undefined ? await makeOwn(name) : { rid: target.repository_id, cid: target.collection_id };
      addUploads(place, files);
      // Keeps the collection for further files.
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
