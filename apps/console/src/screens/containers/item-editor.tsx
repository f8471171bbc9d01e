/** Edits one document as JSON and saves it on condition that nobody changed it meanwhile. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { replaceItem, type Container, type ItemKey, type JsonObject } from "../../api/containers.ts";
import { isProblem } from "../../api/problem.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Facts } from "../../ui/panel.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { etagOf, parseDocument, textOf } from "./document-text.ts";
import { ItemConflict } from "./item-conflict.tsx";
import { RemoveItem } from "./remove-item.tsx";

const s = containerStrings.item;

interface ItemEditorProps {
  readonly container: Container;
  readonly itemKey: ItemKey;
  readonly first: JsonObject;
  readonly onClose: () => void;
}

export function ItemEditor({ container, itemKey, first, onClose }: ItemEditorProps) {
  const client = useQueryClient();
  const [base, setBase] = useState(first);
  const [text, setText] = useState(() => textOf(first));
  const parsed = parseDocument(text);
  const changed = text !== textOf(base);
  const lists = { queryKey: ["containers", container.name, "query"] };
  const save = useMutation({
    mutationFn: ({ document, etag }: { readonly document: JsonObject; readonly etag: string }) => replaceItem(itemKey, document, etag),
    onSuccess: async (saved) => {
      take(saved);
      toast(s.saved);
      await client.invalidateQueries(lists);
    },
  });
  const take = (document: JsonObject) => {
    setBase(document);
    setText(textOf(document));
  };
  const submit = () => {
    if ("document" in parsed && changed && !save.isPending && !container.append_only) save.mutate({ document: parsed.document, etag: etagOf(base) });
  };
  if (isProblem(save.error, 412) || (isProblem(save.error, 404) && "document" in parsed)) {
    return (
      <ItemConflict
        itemKey={itemKey}
        mine={"document" in parsed ? parsed.document : {}}
        pending={save.isPending}
        onTakeTheirs={(theirs) => {
          take(theirs);
          save.reset();
        }}
        onOverwrite={(document, etag) => save.mutate({ document, etag })}
        onGoOn={() => save.reset()}
        onClose={onClose}
      />
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <Facts
        of={[
          [
            s.etag,
            <code key="etag" className="font-mono text-xs break-all">
              {etagOf(base)}
            </code>,
          ],
          [s.changed, typeof base["_ts"] === "number" ? <Ago key="at" at={base["_ts"] * 1_000} /> : ""],
        ]}
      />
      <CodeEditor label={s.json} language="json" value={text} onChange={setText} onRun={submit} readOnly={container.append_only} />
      {container.append_only && <p className="text-sm text-soft">{s.readOnly}</p>}
      {"error" in parsed && <p className="text-sm text-bad">{parsed.error}</p>}
      {save.error !== null && <ErrorBox error={save.error} />}
      {!container.append_only && (
        <div className="flex flex-wrap justify-end gap-2">
          <RemoveItem itemKey={itemKey} seen={base} onRemoved={onClose} />
          <div className="flex-1" />
          <Button disabled={!changed} onClick={() => setText(textOf(base))}>
            {s.reset}
          </Button>
          <Button look="main" disabled={!changed || save.isPending || "error" in parsed} onClick={submit}>
            {s.save}
          </Button>
        </div>
      )}
    </div>
  );
}
