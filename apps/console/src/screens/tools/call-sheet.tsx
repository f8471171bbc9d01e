import type { ToolInvocation } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { redactionsOptions, toolOptions } from "../../api/tool-log.ts";
import { formatDateTime, formatMs } from "../../lib/format.ts";
import { toolStrings } from "../../strings/tools.ts";
import { Status } from "../../ui/badge.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";

const s = toolStrings.detail;
const route = getRouteApi("/shell/tools");

export function CallSheet() {
  const { day, call } = route.useSearch();
  const navigate = route.useNavigate();
  const open = day !== undefined && call !== undefined;
  const found = useQuery({ ...toolOptions(day ?? "", call ?? ""), enabled: open });
  const close = () => void navigate({ search: (old) => ({ ...old, day: undefined, call: undefined }) });
  return (
    <Dialog open={open} onClose={close} title={s.title(found.data?.tool_name ?? "…")} place="side">
      {found.error !== null ? (
        <ErrorBox error={found.error} onRetry={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <Loading />
      ) : (
        <Call call={found.data} />
      )}
    </Dialog>
  );
}

function Call({ call }: { readonly call: ToolInvocation }) {
  const { security_context: by, error_details: error, workflow_id: wid } = call;
  return (
    <div className="flex flex-col gap-4">
      <Facts
        of={[
          [s.status, <Status key="status" value={call.status} />],
          [s.at, formatDateTime(call.timestamp)],
          [s.duration, formatMs(call.duration_ms)],
          [s.agent, call.agent_id],
          [s.session, call.session_id],
          ...(wid === null ? [] : [[s.workflow, <WorkflowLink key="workflow" wid={wid} />] as const]),
          ...(typeof by.user_id === "string" ? [[s.user, by.user_id] as const] : []),
          ...(by.ip_address === undefined || by.ip_address === "" ? [] : [[s.address, by.ip_address] as const]),
          ...(by.user_agent === undefined || by.user_agent === "" ? [] : [[s.userAgent, by.user_agent] as const]),
          [
            s.id,
            <code key="id" className="font-mono text-xs break-all">
              {call.id}
            </code>,
          ],
        ]}
      />
      {error !== null && (
        <section>
          <h3 className="mb-2 text-sm font-semibold text-bad">{s.error}</h3>
          <p className="text-sm break-words">
            {[error.error_type, error.error_message].filter((word) => word !== "").join(": ")}
          </p>
          {error.stack_trace !== "" && (
            <pre
              tabIndex={0}
              className="mt-2 max-h-48 overflow-auto rounded bg-raised p-2 font-mono text-xs whitespace-pre-wrap"
            >
              {error.stack_trace}
            </pre>
          )}
        </section>
      )}
      <JsonPart title={s.input} value={call.input_args} />
      <JsonPart title={s.output} value={call.output_result} />
      <Redaction tool={call.tool_name} />
    </div>
  );
}

function WorkflowLink({ wid }: { readonly wid: string }) {
  const navigate = route.useNavigate();
  return (
    <button
      type="button"
      className="text-brand underline"
      onClick={() => void navigate({ to: "/workflows/$wid", params: { wid }, search: {} })}
    >
      {wid}
    </button>
  );
}

function JsonPart({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <section>
      <h3 className="mb-2 text-sm font-semibold">{title}</h3>
      {value === null ? (
        <p className="text-sm text-soft">{s.nothing}</p>
      ) : (
        <CodeEditor label={title} language="json" readOnly value={JSON.stringify(value, null, 2)} />
      )}
    </section>
  );
}

function Redaction({ tool }: { readonly tool: string }) {
  const rules = useQuery(redactionsOptions);
  if (rules.data === undefined) return null;
  const rule = rules.data.items.find(({ tool_name }) => tool_name === tool);
  const words =
    rule === undefined
      ? [s.noRule]
      : [
          ...(rule.sensitive ? [s.sensitive] : []),
          ...(rule.drop.length > 0 ? [s.drop(rule.drop.join(", "))] : []),
          ...(rule.mask.length > 0 ? [s.mask(rule.mask.join(", "))] : []),
          s.ruleNote,
        ];
  return (
    <section>
      <h3 className="mb-2 text-sm font-semibold">{s.redaction}</h3>
      {words.map((line) => (
        <p key={line} className="text-sm break-words text-soft">
          {line}
        </p>
      ))}
    </section>
  );
}
