import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ListChecks, X } from "lucide-react";
import { useState } from "react";
import { createEvaluation, evaluationsKey, type NewEvaluation } from "../../api/evaluations.ts";
import { refOf } from "../../api/collection-ref.ts";
import { searchStrings } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import type { MarkedQuestion, Marks } from "./marks.ts";

const s = searchStrings.marks;
const route = getRouteApi("/shell/search");

export function MarksBar({ marks }: { readonly marks: Marks }) {
  const [open, setOpen] = useState(false);
  const { questions } = marks;
  const documents = questions.reduce((sum, { relevant }) => sum + relevant.length, 0);
  return (
    <div role="status">
      {questions.length > 0 && (
        <div className="flex flex-wrap items-center gap-2 rounded-lg border bg-panel px-3 py-2 text-sm">
          <ListChecks className="size-4 text-brand" aria-hidden />
          <p className="min-w-0 flex-1 basis-48">{s.about(questions.length, documents)}</p>
          <Button size="small" look="quiet" onClick={marks.forgetAll}>
            {s.clear}
          </Button>
          <Button size="small" look="main" onClick={() => setOpen(true)}>
            {s.save}
          </Button>
        </div>
      )}
      <Dialog open={open && questions.length > 0} onClose={() => setOpen(false)} title={s.save}>
        <SaveForm marks={marks} onSaved={() => setOpen(false)} />
      </Dialog>
    </div>
  );
}

function SaveForm({ marks, onSaved }: { readonly marks: Marks; readonly onSaved: () => void }) {
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [k, setK] = useState("10");
  useUnsaved(name !== "");
  const saving = useMutation({
    mutationFn: createEvaluation,
    onSuccess: async ({ evaluation_id }) => {
      await client.invalidateQueries({ queryKey: evaluationsKey });
      toast(s.saved);
      onSaved();
      marks.forgetAll();
      await navigate({ search: (old) => ({ ...old, tab: "evaluations", evaluation: evaluation_id }) });
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(evaluationOf(name.trim(), Number(k), marks.questions));
      }}
    >
      <TextField
        label={s.name}
        hint={s.nameHint}
        value={name}
        onChange={({ target }) => setName(target.value)}
        required
        maxLength={200}
        autoComplete="off"
      />
      <TextField
        label={s.k}
        hint={s.kHint}
        type="number"
        min={1}
        max={100}
        step={1}
        required
        value={k}
        onChange={({ target }) => setK(target.value)}
      />
      <Questions marks={marks} />
      {saving.error !== null && <ErrorBox error={saving.error} />}
      <Button type="submit" look="main" className="self-end" disabled={saving.isPending || name.trim() === ""}>
        {s.create}
      </Button>
    </form>
  );
}

function Questions({ marks: { questions, forget } }: { readonly marks: Marks }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="text-xs font-medium text-soft">{s.questions}</p>
      <ul className="max-h-60 overflow-auto rounded-md border" tabIndex={0} aria-label={s.questions}>
        {questions.map(({ query, relevant }) => (
          <li key={query} className="flex items-center gap-2 border-b px-3 py-1.5 text-sm last:border-b-0">
            <span className="min-w-0 flex-1 break-words">{query}</span>
            <span
              className="text-xs whitespace-nowrap text-soft"
              title={relevant.map(({ filename }) => filename).join(", ")}
            >
              {s.relevant(relevant.length)}
            </span>
            <Button size="icon" look="quiet" aria-label={s.remove(query)} onClick={() => forget(query)}>
              <X aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** All questions run in the collections of all of them: an evaluation has one list. */
function evaluationOf(name: string, k: number, questions: readonly MarkedQuestion[]): NewEvaluation {
  const collections = new Map(
    questions.flatMap((one) => one.collections).map((id) => [refOf(id), { repository: id.rid, collection: id.cid }]),
  );
  return {
    name,
    k,
    collections: [...collections.values()],
    queries: questions.map(({ query, relevant }) => ({
      query,
      relevant: relevant.map(({ id }) => ({ document_id: id })),
    })),
  };
}
