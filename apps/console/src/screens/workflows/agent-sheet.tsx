import type { WorkflowAgent } from "@pinakes/client";
import { formatDateTime, formatMs } from "../../lib/format.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { Status } from "../../ui/badge.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";

const s = workflowStrings.agent;

export function AgentSheet({
  agent,
  onClose,
}: {
  readonly agent: WorkflowAgent | undefined;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      open={agent !== undefined}
      onClose={onClose}
      title={s.title(agent?.agent_name ?? "")}
      about={agent?.agent_id}
      place="side"
    >
      {agent !== undefined && (
        <div className="flex flex-col gap-4">
          <Facts
            of={[
              [workflowStrings.columns.status, <Status key="status" value={agent.status} />],
              [
                s.started,
                agent.started_at === null ? workflowStrings.timeline.notStarted : formatDateTime(agent.started_at),
              ],
              ...(agent.completed_at === null ? [] : [[s.ended, formatDateTime(agent.completed_at)] as const]),
              ...(agent.duration_ms === null ? [] : [[s.duration, formatMs(agent.duration_ms)] as const]),
            ]}
          />
          {agent.result === null ? (
            <p className="text-sm text-soft">{s.noResult}</p>
          ) : (
            <CodeEditor label={s.result} language="json" readOnly value={JSON.stringify(agent.result, null, 2)} />
          )}
        </div>
      )}
    </Dialog>
  );
}
