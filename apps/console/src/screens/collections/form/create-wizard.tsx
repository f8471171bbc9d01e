import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { createCollection, createRepository } from "../../../api/collection-changes.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { toast } from "../../../ui/toast.tsx";
import { emptyValues, readValues, type Changeable, type FormValues } from "./form-values.ts";
import { useForm } from "./use-form.ts";
import { WizardFrame } from "./wizard-frame.tsx";

interface Props {
  readonly repository: string | undefined;
  readonly onClose: () => void;
}

export default function CreateWizard({ repository, onClose }: Props) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const form = useForm({ ...emptyValues, repository: repository ?? emptyValues.repository });
  const creating = useMutation({
    mutationFn: async ({ values, input }: { readonly values: FormValues; readonly input: Changeable }) => {
      const rid = await repositoryOf(values);
      // The repository exists now: submitting again must not create another.
      form.change({ repository: rid });
      const { id, model } = values;
      const more = {
        ...(id.trim() === "" ? {} : { collection_id: id.trim() }),
        ...(model === "" ? {} : { embedding_model: model }),
      };
      return createCollection(rid, { ...input, ...more });
    },
    onSuccess: async ({ repository_id: rid, collection_id: cid, name }) => {
      toast(s.created(name));
      await navigate({ to: "/collections/$rid/$cid", params: { rid, cid }, search: {} });
    },
    onError: form.fail,
    onSettled: () =>
      Promise.all([["collections"], ["repositories"]].map((queryKey) => client.invalidateQueries({ queryKey }))),
  });
  const submit = () => {
    form.begin();
    const { values } = form;
    const read = readValues(values);
    if (values.repository === "" && values.newRepositoryName.trim() === "")
      form.refuse({ repository_name: s.needsRepositoryName });
    else if (read.errors !== undefined) form.refuse(read.errors);
    else creating.mutate({ values, input: read.value });
  };
  return (
    <WizardFrame
      title={s.createTitle}
      action={s.create}
      pendingAction={s.creating}
      pending={creating.isPending}
      error={form.error}
      unsaved={form.changed}
      values={form.values}
      errors={form.errors}
      onChange={form.change}
      onSubmit={submit}
      onClose={onClose}
    />
  );
}

async function repositoryOf({ repository, newRepositoryName, newRepositoryId }: FormValues): Promise<string> {
  if (repository !== "") return repository;
  const id = newRepositoryId.trim();
  const made = await createRepository({ name: newRepositoryName.trim(), ...(id === "" ? {} : { repository_id: id }) });
  return made.repository_id;
}
