import type { ContainerInfo, JsonObject } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createItem } from "../../api/containers.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { parseDocument } from "./document-text.ts";
import { pathsOf } from "./partition-key.ts";

const s = containerStrings.item;

export function NewItem({ container, onClose }: { readonly container: ContainerInfo; readonly onClose: () => void }) {
  const client = useQueryClient();
  const paths = pathsOf(container.partition_key);
  const [first] = useState(() => JSON.stringify(emptyDocument(paths), null, 2));
  const [text, setText] = useState(first);
  const parsed = parseDocument(text);
  const create = useMutation({
    mutationFn: (document: JsonObject) => createItem(container.name, document),
    onSuccess: async () => {
      toast(s.created);
      onClose();
      await client.invalidateQueries({ queryKey: ["containers", container.name, "query"] });
    },
  });
  // On Ctrl+Enter the editor passes its text, which may be newer than the rendered one.
  const submit = (now: string) => {
    const read = parseDocument(now);
    if ("document" in read && !create.isPending) create.mutate(read.document);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={s.create}
      about={s.createAbout(paths.join(", "))}
      place="side"
      unsaved={text !== first}
    >
      <div className="flex flex-col gap-3">
        <CodeEditor label={s.json} language="json" value={text} onChange={setText} onRun={submit} />
        {"error" in parsed && <p className="text-sm text-bad">{parsed.error}</p>}
        {create.error !== null && <ErrorBox error={create.error} />}
        <div className="flex justify-end">
          <Button look="main" disabled={create.isPending || "error" in parsed} onClick={() => submit(text)}>
            {s.createSubmit}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** A template with a placeholder for each part of the partition key. */
function emptyDocument(paths: readonly string[]): JsonObject {
  const document: Record<string, unknown> = { id: "" };
  for (const path of paths) {
    const names = path.split("/").filter((name) => name !== "");
    let place = document;
    for (const name of names.slice(0, -1)) place = (place[name] ??= {}) as Record<string, unknown>;
    const last = names.at(-1);
    if (last !== undefined) place[last] ??= "";
  }
  return document as JsonObject;
}
