import type { AuditEntry, AuditSubject } from "@pinakes/client";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { auditLogStrings } from "../../strings/audit-log.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Facts } from "../../ui/panel.tsx";
import { nameOf, Outcome } from "./entry-columns.tsx";

const s = auditLogStrings.detail;

interface Props {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
}

export function EntrySheet({ entry, onClose }: Props) {
  const { actor, acted_for, status, ids } = entry;
  const optional = (name: string, value: string | null) => (value === null ? [] : [[name, value] as const]);
  return (
    <Dialog open onClose={onClose} title={s.title(formatNumber(entry.index))} place="side">
      <Facts
        of={[
          [s.at, formatDateTime(entry.at)],
          [s.outcome, <Outcome key="outcome" of={entry.outcome} />],
          [s.action, entry.action],
          [s.verb, entry.verb.replaceAll("_", " ")],
          [s.who, <Who key="who" subject={actor} />],
          ...(acted_for === null ? [] : [[s.actedFor, <Who key="for" subject={acted_for} />] as const]),
          ...optional(s.role, entry.role),
          ...optional(s.via, entry.via),
          ...optional(s.key, entry.key_id),
          [s.resource, entry.resource],
          ...Object.entries(ids).map(([name, id]) => [name, <ShownName key={name} of={id} />] as const),
          [s.face, entry.face],
          ...(status === null ? [] : [[s.status, String(status)] as const]),
          ...optional(s.ip, entry.ip),
          ...optional(s.agent, entry.user_agent),
          ...optional(s.request, entry.request_id),
        ]}
      />
    </Dialog>
  );
}

function Who({ subject }: { readonly subject: AuditSubject }) {
  return (
    <>
      <ShownName of={nameOf(subject)} />
      <code className="ml-2 font-mono text-xs break-all text-soft" title={s.token}>
        {subject.token}
      </code>
    </>
  );
}
