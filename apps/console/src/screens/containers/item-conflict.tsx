import type { JsonObject } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createItem, readItem, type ItemKey } from "../../api/containers.ts";
import { isProblem } from "../../api/problem.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { Differences } from "../workflows/differences.tsx";
import { differencesOf } from "../workflows/json-diff.ts";
import { contentOf, etagOf, textOf } from "./document-text.ts";

const s = containerStrings.conflict;

interface ItemConflictProps {
  readonly itemKey: ItemKey;
  readonly mine: JsonObject;
  readonly pending: boolean;
  readonly onTakeTheirs: (theirs: JsonObject) => void;
  readonly onOverwrite: (mine: JsonObject, theirEtag: string) => void;
  readonly onGoOn: () => void;
  readonly onClose: () => void;
}

export function ItemConflict(props: ItemConflictProps) {
  const { itemKey, mine, pending, onTakeTheirs, onOverwrite, onGoOn } = props;
  const theirs = useQuery({
    queryKey: ["containers", itemKey.container, "theirs", itemKey.pk, itemKey.id],
    queryFn: ({ signal }) => readItem(itemKey, signal),
    gcTime: 0,
    staleTime: 0,
  });
  if (isProblem(theirs.error, 404)) return <Gone {...props} />;
  if (theirs.error !== null) return <ErrorBox error={theirs.error} onRetry={() => void theirs.refetch()} />;
  if (theirs.data === undefined) return <Loading />;
  const { data } = theirs;
  const differences = differencesOf(contentOf(data), contentOf(mine));
  return (
    <div className="flex flex-col gap-4">
      <div role="alert">
        <h3 className="text-sm font-semibold text-bad">{s.title}</h3>
        <p className="text-sm">{s.about}</p>
      </div>
      <section>
        <h3 className="mb-2 text-sm font-semibold">{s.differences}</h3>
        {differences.length === 0 ? (
          <p className="text-sm text-soft">{s.same}</p>
        ) : (
          <Differences of={differences} before={s.theirs} after={s.mine} />
        )}
      </section>
      <div className="grid gap-3 sm:grid-cols-2">
        <Side title={s.theirs} document={data} />
        <Side title={s.mine} document={mine} />
      </div>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onGoOn}>{s.continue}</Button>
        <Button onClick={() => onTakeTheirs(data)}>{s.takeTheirs}</Button>
        <Button look="danger" disabled={pending} onClick={() => onOverwrite(mine, etagOf(data))}>
          {s.overwrite}
        </Button>
      </div>
    </div>
  );
}

function Side({ title, document }: { readonly title: string; readonly document: JsonObject }) {
  return (
    <section className="min-w-0">
      <h3 className="mb-2 text-sm font-semibold">{title}</h3>
      <CodeEditor label={title} language="json" readOnly value={textOf(document)} className="max-h-72" />
    </section>
  );
}

function Gone({ itemKey, mine, onTakeTheirs, onClose }: ItemConflictProps) {
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () => createItem(itemKey.container, mine),
    onSuccess: async (made) => {
      toast(containerStrings.item.created);
      onTakeTheirs(made);
      await client.invalidateQueries({ queryKey: ["containers", itemKey.container, "query"] });
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <div role="alert">
        <h3 className="text-sm font-semibold text-bad">{s.title}</h3>
        <p className="text-sm">{s.gone}</p>
      </div>
      <Side title={s.mine} document={mine} />
      {create.error !== null && <ErrorBox error={create.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{s.close}</Button>
        <Button look="danger" disabled={create.isPending} onClick={() => create.mutate()}>
          {s.createAgain}
        </Button>
      </div>
    </div>
  );
}
