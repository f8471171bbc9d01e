import type { Evaluation } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteEvaluation, evaluationsKey } from "../../api/evaluations.ts";
import { searchStrings } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { toast } from "../../ui/toast.tsx";

const s = searchStrings.evaluations.remove;
const route = getRouteApi("/shell/search");

export function DeleteEvaluation({ of: { evaluation_id: id, name, query_count, runs } }: { readonly of: Evaluation }) {
  const [asking, setAsking] = useState(false);
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const remove = useMutation({
    mutationFn: () => deleteEvaluation(id),
    onSuccess: async () => {
      toast(s.done);
      // Navigates first, so that the deleted evaluation is not refetched.
      await navigate({ search: (old) => ({ ...old, evaluation: undefined, run: undefined }) });
      await client.invalidateQueries({ queryKey: evaluationsKey });
    },
  });
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)}>
        <Trash2 aria-hidden />
        {s.label}
      </Button>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={s.title(name)}
        action={s.label}
        typeName={name}
        onConfirm={() => remove.mutate()}
        pending={remove.isPending}
        error={remove.error}
      >
        {s.about(query_count, runs.length)}
      </Confirm>
    </>
  );
}
