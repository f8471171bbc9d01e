/** A new key. Its secret is shown once and then discarded. */
import type { CreatedKey, NewKey, Role } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createKey, keysKey } from "../../api/keys.ts";
import { accessStrings } from "../../strings/access.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Check, Select, TextArea, TextField } from "../../ui/field.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { groupsOf } from "./groups-text.ts";

const s = accessStrings.form;
const roles = ["user", "repository_admin", "admin"] as const;

interface Values {
  readonly user: string;
  readonly name: string;
  readonly groups: string;
  readonly role: Role;
  readonly readOnly: boolean;
  readonly purge: boolean;
  readonly expires: string;
}

const empty: Values = { user: "", name: "", groups: "", role: "user", readOnly: false, purge: false, expires: "" };

export function NewKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [values, setValues] = useState(empty);
  const client = useQueryClient();
  const making = useMutation({
    mutationFn: createKey,
    gcTime: 0,
    onSuccess: () => client.invalidateQueries({ queryKey: keysKey }),
  });
  if (making.data !== undefined) return <Made of={making.data} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title={accessStrings.keys.create} about={s.about} unsaved={values !== empty}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!making.isPending) making.mutate(inputOf(values));
        }}
      >
        <Fields values={values} onChange={(next) => setValues((old) => ({ ...old, ...next }))} />
        {making.error !== null && <ErrorBox error={making.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={making.isPending}>
            {making.isPending ? s.submitting : s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Fields({ values, onChange }: { readonly values: Values; readonly onChange: (next: Partial<Values>) => void }) {
  return (
    <>
      <TextField
        label={s.user}
        hint={s.userHint}
        required
        spellCheck={false}
        autoComplete="off"
        value={values.user}
        onChange={({ target }) => onChange({ user: target.value })}
      />
      <TextField
        label={s.name}
        hint={s.nameHint}
        value={values.name}
        onChange={({ target }) => onChange({ name: target.value })}
      />
      <Select
        label={s.role}
        hint={s.roleHints[values.role]}
        value={values.role}
        choices={roles.map((value) => ({ value, label: accessStrings.roles[value] }))}
        onChoose={(role) => onChange({ role })}
      />
      <TextArea
        label={s.groups}
        hint={s.groupsHint}
        rows={3}
        spellCheck={false}
        value={values.groups}
        onChange={({ target }) => onChange({ groups: target.value })}
      />
      <TextField
        label={s.expires}
        hint={s.expiresHint}
        type="datetime-local"
        value={values.expires}
        onChange={({ target }) => onChange({ expires: target.value })}
      />
      <Check label={s.readOnly} checked={values.readOnly} onCheck={(readOnly) => onChange({ readOnly })} />
      <Check label={s.purge} checked={values.purge} onCheck={(purge) => onChange({ purge })} />
    </>
  );
}

function Made({ of: { key }, onClose }: { readonly of: CreatedKey; readonly onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={s.madeTitle} about={s.madeAbout}>
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap items-center gap-2 rounded-md bg-raised p-3">
          <code
            aria-label={s.key}
            role="textbox"
            aria-readonly
            tabIndex={0}
            className="min-w-0 flex-1 font-mono text-xs break-all select-all"
          >
            {key}
          </code>
          <CopyButton text={key} />
        </div>
        <Button look="main" className="self-end" onClick={onClose}>
          {s.done}
        </Button>
      </div>
    </Dialog>
  );
}

function inputOf({ user, name, groups, role, readOnly, purge, expires }: Values): NewKey {
  return {
    user_id: user.trim(),
    groups: groupsOf(groups),
    role,
    permissions: purge ? ["purge"] : [],
    scopes: readOnly ? ["read"] : ["read", "write"],
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...(expires === "" ? {} : { expires_at: new Date(expires).toISOString() }),
  };
}
