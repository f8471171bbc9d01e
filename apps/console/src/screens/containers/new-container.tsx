import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createContainer } from "../../api/containers.ts";
import { isProblem } from "../../api/problem.ts";
import { containerStrings } from "../../strings/containers.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";

const s = containerStrings.create;

export function NewContainer({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [paths, setPaths] = useState("/id");
  const create = useMutation({
    mutationFn: () =>
      createContainer(
        name.trim(),
        paths
          .split(",")
          .map((path) => path.trim())
          .filter((path) => path !== ""),
      ),
    onSuccess: async () => {
      toast(s.done);
      await client.invalidateQueries({ queryKey: ["containers"] });
      await navigate({ to: "/containers/$c", params: { c: name.trim() } });
    },
  });
  const exists = isProblem(create.error, 412);
  return (
    <Dialog open onClose={onClose} title={s.title} unsaved={name !== ""}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <TextField
          label={s.name}
          required
          autoComplete="off"
          value={name}
          error={exists ? s.exists : undefined}
          onChange={({ target }) => setName(target.value)}
        />
        <TextField
          label={s.partitionKey}
          hint={s.partitionKeyHint}
          required
          autoComplete="off"
          value={paths}
          onChange={({ target }) => setPaths(target.value)}
        />
        {create.error !== null && !exists && <ErrorBox error={create.error} />}
        <div className="flex justify-end">
          <Button type="submit" look="main" disabled={create.isPending}>
            {s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
