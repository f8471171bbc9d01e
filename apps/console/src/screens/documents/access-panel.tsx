/** Who may see a document, within its collection's access. */
import type { Document } from "@pinakes/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changeDocumentAccess, documentOptions, type DocumentId } from "../../api/documents.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextArea } from "../../ui/field.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { groupsOf } from "../access/groups-text.ts";

const s = documentStrings.access;

interface Props {
  readonly id: DocumentId;
  readonly document: Document;
}

export function AccessPanel({ id, document }: Props) {
  const [changing, setChanging] = useState(false);
  const { allowed_groups: groups, allowed_users: users, sensitivity } = document;
  const names = (list: readonly string[]) => <ShownName of={list.join(", ")} />;
  return (
    <Panel
      title={s.title}
      actions={
        <>
          <Link
            to="/access"
            search={{ tab: "test", repository: id.rid, collection: id.cid, document: id.did }}
            className={buttonClass("quiet", "small")}
          >
            {s.test}
          </Link>
          <Button size="small" onClick={() => setChanging(true)}>
            {s.change}
          </Button>
        </>
      }
    >
      <Facts
        of={[
          [s.groups, groups === null ? (users === null ? s.everyone : s.none) : names(groups)],
          [s.users, users === null ? (groups === null ? s.everyone : s.none) : names(users)],
          [s.labels, sensitivity.length === 0 ? s.none : names(sensitivity)],
        ]}
      />
      {changing && <ChangeAccess id={id} document={document} onClose={() => setChanging(false)} />}
    </Panel>
  );
}

function ChangeAccess({ id, document, onClose }: Props & { readonly onClose: () => void }) {
  const client = useQueryClient();
  const before = {
    groups: (document.allowed_groups ?? []).join("\n"),
    users: (document.allowed_users ?? []).join("\n"),
    labels: document.sensitivity.join("\n"),
  };
  const [values, setValues] = useState(before);
  const changed = Object.keys(before).some(
    (name) => before[name as keyof typeof before] !== values[name as keyof typeof before],
  );
  const saving = useMutation({
    mutationFn: () => {
      const [groups, users] = [groupsOf(values.groups), groupsOf(values.users)];
      const access = {
        allowed_groups: groups.length === 0 ? null : groups,
        allowed_users: users.length === 0 ? null : users,
        sensitivity: groupsOf(values.labels),
      };
      return changeDocumentAccess(id, access, document.etag);
    },
    onSuccess: (next) => {
      client.setQueryData(documentOptions(id).queryKey, next);
      toast(s.saved);
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["documents", id.rid, id.cid] }),
  });
  const field = (name: keyof typeof values, label: string, hint: string) => (
    <TextArea
      label={label}
      hint={hint}
      rows={2}
      spellCheck={false}
      value={values[name]}
      onChange={({ target }) => setValues({ ...values, [name]: target.value })}
    />
  );
  return (
    <Dialog open onClose={onClose} title={s.change} about={s.about} unsaved={changed}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!saving.isPending) saving.mutate();
        }}
      >
        {field("groups", s.groups, s.groupsHint)}
        {field("users", s.users, s.usersHint)}
        {field("labels", s.labels, s.labelsHint)}
        {saving.error !== null && <ErrorBox error={saving.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={saving.isPending}>
            {saving.isPending ? s.saving : s.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
