/** Formats tool invocations as text. */
import type { ChainCheck, Stored, ToolInvocation } from "@pinakes/client";
import { count, fields, grid, inMs, inTime, oneLine } from "../terminal/layout.ts";
import { printable, styled, type Terminal } from "../terminal/terminal.ts";

export function invocationsText(terminal: Terminal, invocations: readonly ToolInvocation[]): string {
  return grid(
    terminal,
    invocations.map(({ timestamp, tool_name, status, duration_ms, agent_id, id, error_details }) => ({
      time: inTime(timestamp),
      tool: tool_name,
      status,
      took: inMs(duration_ms),
      agent: agent_id,
      id,
      error: error_details?.error_message ?? "",
    })),
    { whole: ["time", "status", "took", "id"], optional: ["agent", "error"] },
  );
}

export function invocationText(terminal: Terminal, invocation: Stored<ToolInvocation>): string {
  const { security_context: context, error_details: error } = invocation;
  const part = (name: string, value: unknown) =>
    `${styled(terminal, "dim", name)}\n${printable(JSON.stringify(value, undefined, 2))}`;
  const head = fields(terminal, {
    id: invocation.id,
    date: invocation.tool_date,
    time: inTime(invocation.timestamp),
    tool: invocation.tool_name,
    status: invocation.status,
    took: inMs(invocation.duration_ms),
    agent: invocation.agent_id,
    session: invocation.session_id,
    workflow: invocation.workflow_id ?? undefined,
    user: context.user_id ?? undefined,
    address: context.ip_address,
    "user agent": context.user_agent,
  });
  const failed =
    error === null
      ? []
      : [
          [
            styled(terminal, "red", oneLine(`${error.error_type}: ${error.error_message}`)),
            printable(error.stack_trace),
          ],
        ];
  const told = failed.map((lines) => lines.filter((line) => line !== "").join("\n"));
  return [head, ...told, part("input", invocation.input_args), part("output", invocation.output_result)].join("\n\n");
}

export function chainText(
  terminal: Terminal,
  { tool_date, state, entries, intact, broken_at, head }: ChainCheck,
): string {
  if (state === "empty") return `There are no invocations on ${tool_date}: nothing to verify.`;
  if (state === "unchained")
    return `No invocations on ${tool_date} are chained: nothing to verify. Enable the hash chain: pinakes tools settings --hash-chain on`;
  const what = `${tool_date}: ${count(entries, "invocation")}`;
  if (intact) return `${what}, all unchanged. The last hash is ${head}.`;
  return styled(terminal, "red", oneLine(`${what}. The first error is at ${broken_at ?? "an unknown position"}.`));
}
