/** Edits one document as JSON, and saves it with its etag as a precondition. */
import type { ContainerInfo, JsonObject } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { deleteItem, type ItemKey, readItem, replaceItem } from "../../api/containers.ts";
import { isProblem } from "../../api/problem.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Facts } from "../../ui/panel.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { Ago } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import { useDeleteSeen } from "../../ui/use-delete-seen.ts";
import { Differences } from "../workflows/differences.tsx";
import { differencesOf } from "../workflows/json-diff.ts";
import { contentOf, etagOf, parseDocument, textOf } from "./document-text.ts";
import { ItemConflict } from "./item-conflict.tsx";

const s = containerStrings.item;

interface ItemEditorProps {
  readonly container: ContainerInfo;
  readonly itemKey: ItemKey;
  readonly first: JsonObject;
  readonly onClose: () => void;
}

interface Save {
  readonly document: JsonObject;
  readonly etag: string;
  /** The submitted text. */
  readonly sent: string;
}

function useSave(itemKey: ItemKey, onSaved: (saved: JsonObject, save: Save) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ document, etag }: Save) => replaceItem(itemKey, document, etag),
    onSuccess: async (saved, save) => {
      onSaved(saved, save);
      toast(s.saved);
      await client.invalidateQueries({ queryKey: ["containers", itemKey.container, "query"] });
    },
  });
}

export function ItemEditor({ container, itemKey, first, onClose }: ItemEditorProps) {
  const [base, setBase] = useState(first);
  const [text, setText] = useState(() => textOf(first));
  const parsed = parseDocument(text);
  const changed = text !== textOf(base);
  useUnsaved(changed);
  const save = useSave(itemKey, (saved, { sent }) => {
    setBase(saved);
    // Keeps input that was typed during the save.
    setText((now) => (now === sent ? textOf(saved) : now));
  });
  const take = (document: JsonObject) => {
    setBase(document);
    setText(textOf(document));
  };
  // On Ctrl+Enter the editor passes its text, which may be newer than the rendered one.
  const submit = (sent: string) => {
    const read = parseDocument(sent);
    if ("document" in read && sent !== textOf(base) && !save.isPending && !container.append_only)
      save.mutate({ document: read.document, etag: etagOf(base), sent });
  };
  const refused = isProblem(save.error, 412) || isProblem(save.error, 404);
  if (refused && save.variables !== undefined) {
    return (
      <ItemConflict
        itemKey={itemKey}
        mine={save.variables.document}
        pending={save.isPending}
        onTakeTheirs={(theirs) => {
          take(theirs);
          save.reset();
        }}
        onOverwrite={(document, etag) => save.mutate({ document, etag, sent: text })}
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
      <CodeEditor
        label={s.json}
        language="json"
        value={text}
        onChange={setText}
        onRun={submit}
        readOnly={container.append_only}
      />
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
          <Button look="main" disabled={!changed || save.isPending || "error" in parsed} onClick={() => submit(text)}>
            {s.save}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Deletes the displayed version of an item. After a conflict the current one is shown; confirming again deletes that. */
interface RemoveItemProps {
  readonly itemKey: ItemKey;
  readonly seen: JsonObject;
  readonly onRemoved: () => void;
}

function RemoveItem({ itemKey, seen, onRemoved }: RemoveItemProps) {
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
