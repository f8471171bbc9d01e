import type { AuditEntry, AuditSubject } from "@pinakes/client";
import { formatDateTime } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { auditLogStrings as s } from "../../strings/audit-log.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { ShownName } from "../../ui/name.tsx";

const tones: Readonly<Record<AuditEntry["outcome"], Tone>> = {
  ok: "plain",
  denied: "bad",
  not_found: "warn",
  failed: "bad",
};

export function nameOf({ id }: AuditSubject): string {
  return id ?? s.erased;
}

export function Outcome({ of }: { readonly of: AuditEntry["outcome"] }) {
  return <Badge tone={tones[of]}>{s.outcomes[of]}</Badge>;
}

function Cut({ text }: { readonly text: string }) {
  return (
    <span className="truncate" title={shownName(text)}>
      <ShownName of={text} />
    </span>
  );
}

/** The most specific id of the entry, below its kind. */
function resourceOf({ resource, ids }: AuditEntry): string {
  const named = Object.values(ids);
  return named.length === 0 ? resource : `${resource}: ${named.join(" / ")}`;
}

export const entryColumns: readonly Column<AuditEntry>[] = [
  { id: "at", header: s.columns.at, width: "12.5rem", cell: ({ at }) => <Cut text={formatDateTime(at)} /> },
  {
    id: "who",
    header: s.columns.who,
    width: "minmax(7rem,1fr)",
    cell: ({ actor, acted_for }) => (
      <Cut text={acted_for === null ? nameOf(actor) : s.actingFor(nameOf(actor), nameOf(acted_for))} />
    ),
  },
  { id: "action", header: s.columns.action, width: "minmax(9rem,1fr)", cell: ({ action }) => <Cut text={action} /> },
  {
    id: "what",
    header: s.columns.what,
    width: "minmax(9rem,1.5fr)",
    cell: (entry) => <Cut text={resourceOf(entry)} />,
  },
  { id: "outcome", header: s.columns.outcome, width: "6.5rem", cell: ({ outcome }) => <Outcome of={outcome} /> },
  { id: "face", header: s.columns.face, width: "6.5rem", cell: ({ face }) => face },
  { id: "from", header: s.columns.from, width: "8rem", cell: ({ ip }) => <Cut text={ip ?? "–"} /> },
];
