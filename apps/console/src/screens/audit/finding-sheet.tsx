import type { Finding } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import { auditStrings } from "../../strings/audit.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";

const s = auditStrings.findings;

export function FindingSheet({ finding, onClose }: { readonly finding: Finding; readonly onClose: () => void }) {
  const { kind, store, detail, repaired, repository_id: rid, collection_id: cid, document_id, key } = finding;
  const known = (name: string, value: string | undefined) =>
    value === undefined
      ? []
      : [
          [
            name,
            <code key={name} className="font-mono text-xs break-all">
              {value}
            </code>,
          ] as const,
        ];
  return (
    <Dialog open onClose={onClose} title={s.kinds[kind]} place="side">
      <Facts
        of={[
          [s.columns.detail, detail],
          [s.columns.repaired, repaired ? s.yes : s.no],
          [s.columns.store, store],
          ...known(s.repository, rid),
          ...known(s.collection, cid),
          ...known(s.document, document_id),
          ...known(s.key, key),
        ]}
      />
      {rid !== undefined && cid !== undefined && (
        <Link
          to="/collections/$rid/$cid"
          params={{ rid, cid }}
          className="mt-4 inline-block text-sm text-brand hover:underline"
        >
          {s.toCollection}
        </Link>
      )}
    </Dialog>
  );
}
