import type { Key } from "@pinakes/client";
import { shownName } from "../../lib/shown-name.ts";
import { accessStrings } from "../../strings/access.ts";
import { Badge } from "../../ui/badge.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Ago } from "../../ui/time.tsx";

const s = accessStrings.keys;

interface Actions {
  readonly onRevoke: (key: Key) => void;
  readonly onTest: (key: Key) => void;
}

export function keyColumns(actions: Actions): readonly Column<Key>[] {
  const of = s.columns;
  return [
    {
      id: "name",
      header: of.name,
      width: "minmax(8rem,1fr)",
      cell: ({ name }) => <Cut text={name ?? s.noName} soft={name === null} />,
    },
    { id: "user", header: of.user, width: "minmax(6rem,1fr)", cell: ({ user_id }) => <Cut text={user_id} /> },
    { id: "role", header: of.role, width: "9.5rem", cell: ({ role }) => <Cut text={accessStrings.roles[role]} /> },
    {
      id: "groups",
      header: of.groups,
      width: "minmax(6rem,1fr)",
      cell: ({ groups }) => <Cut text={groups.join(", ")} />,
    },
    { id: "may", header: of.permissions, width: "10.5rem", cell: (key) => <Cut text={mayOf(key)} /> },
    { id: "expires", header: of.expires, width: "7rem", cell: ({ expires_at }) => <Ends at={expires_at} /> },
    {
      id: "used",
      header: of.used,
      width: "7rem",
      cell: ({ last_used_at }) => (last_used_at === null ? s.never : <Ago at={last_used_at} />),
    },
    { id: "actions", header: of.actions, width: "4.5rem", cell: (key) => <RowActions of={key} {...actions} /> },
  ];
}

function Cut({ text, soft = false }: { readonly text: string; readonly soft?: boolean }) {
  return (
    <span className={soft ? "truncate text-soft" : "truncate"} title={shownName(text)}>
      <ShownName of={text} />
    </span>
  );
}

function mayOf({ scopes, permissions }: Key): string {
  return [...scopes, ...permissions].join(", ");
}

/** Expired keys stay listed for some time. */
function Ends({ at }: { readonly at: string | null }) {
  if (at === null) return s.never;
  return Date.parse(at) <= Date.now() ? <Badge tone="bad">{s.ended}</Badge> : <Ago at={at} />;
}

function RowActions({ of: key, onRevoke, onTest }: Actions & { readonly of: Key }) {
  return (
    <Menu
      label={s.actionsFor(key.name ?? key.user_id)}
      entries={[
        { label: s.test, onChoose: () => onTest(key) },
        { label: s.revoke, danger: true, onChoose: () => onRevoke(key) },
      ]}
    />
  );
}
