import type { Workflow, WorkflowError } from "@pinakes/client";
import type { Lease } from "../../api/workflows.ts";
import { formatDateTime, formatMs, formatSeconds } from "../../lib/format.ts";
import { workflowStrings } from "../../strings/workflows.ts";
import { Badge } from "../../ui/badge.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Ago } from "../../ui/time.tsx";
import { StepBar } from "./step-bar.tsx";

const s = workflowStrings.facts;

export function WorkflowFacts({ workflow, lease }: { readonly workflow: Workflow; readonly lease: Lease | undefined }) {
  const { metadata, performance_metrics: figures, started_at } = workflow;
  return (
    <Panel title={s.title}>
      <div className="grid items-start gap-x-8 gap-y-1.5 md:grid-cols-2 xl:grid-cols-3">
        <Facts
          of={[
            [
              s.id,
              <code key="id" className="font-mono text-xs break-all">
                {workflow.workflow_id}
              </code>,
            ],
            [s.type, workflowStrings.words(workflow.type)],
            [s.steps, <StepBar key="steps" workflow={workflow} />],
            [s.lease, <LeaseWords key="lease" lease={lease} />],
          ]}
        />
        <Facts
          of={[
            [s.created, formatDateTime(workflow.created_at)],
            ...(started_at === undefined || started_at === null
              ? []
              : [[s.started, formatDateTime(started_at)] as const]),
            ...(workflow.completed_at === null ? [] : [[s.ended, formatDateTime(workflow.completed_at)] as const]),
            [s.updated, <Ago key="updated" at={workflow.updated_at} />],
            ...(figures.execution_time_ms === 0 ? [] : [[s.execution, formatMs(figures.execution_time_ms)] as const]),
            ...(figures.total_cost_usd === 0 ? [] : [[s.cost, `$${figures.total_cost_usd.toFixed(4)}`] as const]),
          ]}
        />
        <Facts
          of={[
            [s.createdBy, metadata.created_by],
            [s.priority, metadata.priority],
            [s.retries, s.retriesOf(metadata.retry_count, metadata.max_retries)],
            ...(metadata.timeout_seconds === 0 ? [] : [[s.timeout, formatSeconds(metadata.timeout_seconds)] as const]),
            [s.environment, metadata.environment],
            ...(metadata.tags.length === 0
              ? []
              : [
                  [
                    s.tags,
                    metadata.tags.map((tag) => (
                      <Badge key={tag} className="mr-1">
                        {tag}
                      </Badge>
                    )),
                  ] as const,
                ]),
          ]}
        />
      </div>
    </Panel>
  );
}

function LeaseWords({ lease }: { readonly lease: Lease | undefined }) {
  const words = workflowStrings.lease;
  if (lease === undefined) return <span className="text-soft">{words.unknown}</span>;
  if (lease.owner === null || lease.expires_at === null) return words.free;
  const over = Date.parse(lease.expires_at) < Date.now();
  return (
    <>
      {over ? words.over(lease.owner) : words.heldBy(lease.owner, lease.fencing_token)} <Ago at={lease.expires_at} />
    </>
  );
}

export function WorkflowFailure({ error }: { readonly error: WorkflowError }) {
  const words = workflowStrings.error;
  return (
    <Panel title={words.title} className="border-bad">
      <Facts
        of={[
          [words.type, error.error_type],
          [words.message, error.error_message],
          [words.step, error.failed_step],
          [words.recovery, workflowStrings.words(error.recovery_action)],
        ]}
      />
      {error.stack_trace !== "" && (
        <pre
          tabIndex={0}
          aria-label={words.trace}
          className="mt-3 max-h-48 overflow-auto rounded bg-raised p-2 font-mono text-xs whitespace-pre-wrap"
        >
          {error.stack_trace}
        </pre>
      )}
    </Panel>
  );
}
