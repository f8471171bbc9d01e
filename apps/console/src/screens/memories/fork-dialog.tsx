import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { forkSession, type SessionId } from "../../api/memories.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";

const s = memoryStrings.fork;
const route = getRouteApi("/shell/memories");

interface ForkDialogProps {
  readonly id: SessionId;
  readonly upTo: string | undefined;
  readonly onClose: () => void;
}

export function ForkDialog({ id, upTo, onClose }: ForkDialogProps) {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const first = `${id.session}-fork`;
  const [name, setName] = useState(first);
  const fork = useMutation({
    mutationFn: () => forkSession(id, name.trim(), upTo),
    onSuccess: async ({ session_id: session }) => {
      toast(s.done);
      await client.invalidateQueries({ queryKey: ["memories", "sessions", id.agent] });
      await navigate({ search: (old) => ({ ...old, session, message: undefined }) });
    },
  });
  return (
    <Dialog open onClose={onClose} title={s.title} about={s.about} unsaved={name !== first}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          fork.mutate();
        }}
      >
        <p className="text-sm break-words">{upTo === undefined ? s.all : s.upTo(upTo)}</p>
        <TextField
          label={s.name}
          required
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        {fork.error !== null && <ErrorBox error={fork.error} />}
        <div className="flex justify-end">
          <Button type="submit" look="main" disabled={fork.isPending || name.trim() === ""}>
            {s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
