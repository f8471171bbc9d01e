import type { DeadLetter } from "@pinakes/client";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { queueStrings } from "../../strings/queues.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";

const s = queueStrings.dead;

export function DeadLetterSheet({ letter, onClose }: { readonly letter: DeadLetter; readonly onClose: () => void }) {
  const { cause, reason, failures, dead_at, document_id, message } = letter;
  return (
    <Dialog open onClose={onClose} title={s.detailTitle} place="side">
      <div className="flex flex-col gap-4">
        <Facts
          of={[
            [s.cause, cause],
            [s.columns.reason, reason ?? s.noReason],
            [s.columns.failures, formatNumber(failures)],
            [s.columns.at, formatDateTime(dead_at)],
            ...(document_id === undefined ? [] : [[s.columns.about, s.document(document_id)] as const]),
          ]}
        />
        {message !== undefined && (
          <section>
            <h2 className="mb-2 text-sm font-semibold">{s.message}</h2>
            <pre
              tabIndex={0}
              className="overflow-auto rounded-md bg-raised p-3 font-mono text-xs break-words whitespace-pre-wrap"
            >
              {JSON.stringify(message, null, 2)}
            </pre>
          </section>
        )}
      </div>
    </Dialog>
  );
}
