import { useQuery } from "@tanstack/react-query";
import { auditCheckpointOptions } from "../../api/audit-log.ts";
import { formatNumber } from "../../lib/format.ts";
import { auditLogStrings } from "../../strings/audit-log.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";

const s = auditLogStrings.proof;

export function CheckpointDialog({ onClose }: { readonly onClose: () => void }) {
  const { data, error, refetch } = useQuery(auditCheckpointOptions);
  return (
    <Dialog open onClose={onClose} title={s.title} about={s.about} wide>
      {data === undefined ? (
        <Pending of={{ error, refetch }} />
      ) : (
        <div className="flex flex-col items-start gap-4">
          <Facts
            of={[
              [s.size, formatNumber(data.size)],
              [s.root, <Code key="root" text={data.root} />],
              [s.keys, data.keys.map((key) => <Code key={key} text={key} />)],
            ]}
          />
          <pre
            aria-label={s.note}
            tabIndex={0}
            className="max-w-full overflow-auto rounded bg-raised p-3 font-mono text-xs whitespace-pre-wrap break-all"
          >
            {data.note}
          </pre>
          <CopyButton text={data.note} label={s.copy} />
        </div>
      )}
    </Dialog>
  );
}

function Code({ text }: { readonly text: string }) {
  return <code className="block font-mono text-xs break-all">{text}</code>;
}
