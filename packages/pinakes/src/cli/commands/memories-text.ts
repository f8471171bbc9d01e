/** Formats sessions and their messages as text. */
import type { ContextWindow, Memory, MemoryHit, MemorySearchResult, Session } from "@pinakes/client";
import { emphasised, snippet } from "../terminal/emphasis.ts";
import { count, fields, grid, inTime, oneLine, wrapped } from "../terminal/layout.ts";
import { styled, type Terminal } from "../terminal/terminal.ts";

export function sessionsText(terminal: Terminal, sessions: readonly Session[]): string {
  return grid(
    terminal,
    sessions.map(({ session_id, message_count, first_message_at, last_message_at, forked_from = "" }) => ({
      session: session_id,
      messages: message_count,
      first: inTime(first_message_at),
      last: inTime(last_message_at),
      "forked from": forked_from,
    })),
    { whole: ["session", "first", "last"], optional: ["last", "first", "forked from"] },
  );
}

export function sessionText(terminal: Terminal, session: Session): string {
  return fields(terminal, {
    session: session.session_id,
    agent: session.agent_id,
    messages: session.message_count,
    tokens: session.token_count ?? undefined,
    first: inTime(session.first_message_at),
    last: inTime(session.last_message_at),
    "forked from": session.forked_from,
    expires: session.ttl_unit === "session" ? "as a whole" : "message by message",
  });
}

const indent = "  ";
const linesOfText = 100;

/** Each message with a header line (time and author), and its text below. */
export function messagesText(terminal: Terminal, messages: readonly Memory[]): string {
  const columns = Math.max(20, (terminal.columns ?? linesOfText) - indent.length);
  return messages
    .map((message) =>
      [headOf(terminal, message), ...linesOf(message.content, columns).map((line) => (indent + line).trimEnd())].join(
        "\n",
      ),
    )
    .join("\n\n");
}

/** Keeps line breaks of the text, and wraps long lines. */
function linesOf(content: string, columns: number): readonly string[] {
  return content
    .trim()
    .split(/\r?\n/)
    .flatMap((line) => (line.trim() === "" ? [""] : wrapped(line, columns)));
}

function headOf(
  terminal: Terminal,
  { timestamp, message_type, token_count, metadata }: Memory,
  more: readonly string[] = [],
): string {
  const tool = metadata.tool_name === null || metadata.tool_name === "" ? [] : [metadata.tool_name];
  const details = [inTime(timestamp), ...tool, count(token_count, "token"), ...more].join(" · ");
  return `${styled(terminal, "bold", message_type)}${indent}${styled(terminal, "dim", oneLine(details))}`;
}

export function contextText(
  terminal: Terminal,
  { messages, token_count, omitted }: ContextWindow,
  maxTokens: number,
): string {
  const left = omitted === 0 ? "nothing omitted" : `${count(omitted, "message")} omitted`;
  const last = styled(
    terminal,
    "dim",
    `${count(messages.length, "message")}, ${token_count} of ${count(maxTokens, "token")}; ${left}.`,
  );
  return messages.length === 0 ? last : `${messagesText(terminal, messages)}\n\n${last}`;
}

const snippetCharsMax = 320;

export function foundText(
  terminal: Terminal,
  query: string,
  { hits, mode_used, incomplete }: MemorySearchResult,
): string {
  const found = hits.length === 0 ? "Nothing was found" : count(hits.length, "message");
  const behind = incomplete === true ? " Some messages are not indexed yet; search again later to see more." : "";
  const last = styled(terminal, "dim", `${found} (${mode_used}).${behind}`);
  return [...hits.map((hit) => hitText(terminal, query, hit)), last].join("\n\n");
}

function hitText(terminal: Terminal, query: string, { memory, score }: MemoryHit): string {
  const columns = Math.max(20, (terminal.columns ?? linesOfText) - indent.length);
  const lines = wrapped(snippet(oneLine(memory.content), query, snippetCharsMax), columns).map(
    (line) => indent + emphasised(terminal, line, query),
  );
  const place = `${memory.agent_id} ${memory.session_id}`;
  return [
    headOf(terminal, memory, [score.toFixed(3)]),
    `${indent}${styled(terminal, "cyan", oneLine(place))}`,
    ...lines,
  ].join("\n");
}
