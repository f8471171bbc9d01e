/** The tool log as a file: NDJSON, or CSV (RFC 4180) whose cells no spreadsheet takes for formulas. */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { valueAt } from "../../domain/path.ts";

export type ExportFormat = "ndjson" | "csv";

const columns: Readonly<Record<string, readonly string[]>> = {
  id: ["id"],
  tool_date: ["tool_date"],
  timestamp: ["timestamp"],
  tool_name: ["tool_name"],
  agent_id: ["agent_id"],
  workspace_id: ["workspace_id"],
  session_id: ["session_id"],
  workflow_id: ["workflow_id"],
  status: ["status"],
  duration_ms: ["duration_ms"],
  input_args: ["input_args"],
  output_result: ["output_result"],
  error_type: ["error_details", "error_type"],
  error_message: ["error_details", "error_message"],
  stack_trace: ["error_details", "stack_trace"],
  user_id: ["security_context", "user_id"],
  ip_address: ["security_context", "ip_address"],
  user_agent: ["security_context", "user_agent"],
  created_at: ["created_at"],
};

/** What comes before the first row; undefined: nothing. */
export function exportHead(format: ExportFormat): string | undefined {
  return format === "csv" ? `${Object.keys(columns).join(",")}\r\n` : undefined;
}

/** One row, with its end of line. */
export function exportLine(document: JsonObject, format: ExportFormat): string {
  if (format === "ndjson") return `${JSON.stringify(document)}\n`;
  return `${Object.values(columns)
    .map((path) => cell(valueAt(document, path)))
    .join(",")}\r\n`;
}

function cell(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
