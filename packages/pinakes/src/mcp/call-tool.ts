/** One call of a tool: rights, confirmation, the tool itself, and its result or error in the protocol's form. */
import { hash } from "node:crypto";
import {
  inputRequired,
  inputResponse,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { PinakesError } from "../domain/errors.ts";
import type { Deletion, McpSession, McpTool, ToolAnswer, ToolContext } from "./tool.ts";

export type ToolFailure = (error: unknown, tool: string) => void;

export interface CallOptions {
  readonly session: McpSession;
  readonly capabilities: ClientCapabilities | undefined;
  /** Receives errors that are not the caller's fault. */
  readonly onFailure: ToolFailure;
}

export async function callTool(
  tool: McpTool,
  args: object,
  ctx: ServerContext,
  { session, capabilities, onFailure }: CallOptions,
): Promise<CallToolResult | InputRequiredResult> {
  const context = contextOf(session, ctx);
  try {
    if (session.readOnly && !tool.annotations.readOnlyHint) {
      const error = new PinakesError(
        "FORBIDDEN",
        `This key is read-only, and ${tool.name} writes. Use a key with write access.`,
      );
      await session.denied?.(tool.name, error);
      throw error;
    }
    const consequence = await tool.consequence?.(context, args);
    if (consequence === undefined) return resultOf(await tool.run(context, args));
    if ("answer" in consequence) return resultOf(consequence.answer);
    const key = confirmKey(tool, consequence);
    const decision = decisionOf(key, ctx, capabilities);
    if (decision === "ask") return ask(key, consequence);
    return resultOf(decision === "confirmed" ? await tool.run(context, consequence.confirmed) : consequence.dryRun);
  } catch (error) {
    if (ctx.mcpReq.signal.aborted) throw error;
    if (!PinakesError.isInstance(error) || error.status >= 500) onFailure(error, tool.name);
    return failureOf(error);
  }
}

/** A client that cannot ask its user gets a dry run. */
function decisionOf(
  key: string,
  ctx: ServerContext,
  capabilities: ClientCapabilities | undefined,
): "ask" | "confirmed" | "refused" {
  const reply = inputResponse(ctx.mcpReq.inputResponses, key);
  if (reply.kind === "elicit")
    return reply.action === "accept" && reply.content?.["confirm"] === true ? "confirmed" : "refused";
  return asksInForms(capabilities) ? "ask" : "refused";
}

/** An empty capability means forms; a client may also offer URLs only. */
function asksInForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Bound to the call and to the text of the question, so that consent to one deletion never applies to another. */
function confirmKey(tool: McpTool, { question, confirmed }: Deletion): string {
  return `confirm-${hash("sha256", JSON.stringify([tool.name, confirmed, question]), "base64url")}`;
}

function ask(key: string, { question, details }: Deletion): InputRequiredResult {
  return inputRequired({
    inputRequests: {
      [key]: inputRequired.elicit({
        message: details === undefined ? question : `${question} ${details}`,
        requestedSchema: {
          type: "object",
          properties: { confirm: { type: "boolean", title: "Delete permanently", default: false } },
          required: ["confirm"],
        },
      }),
    },
  });
}

function contextOf(session: McpSession, ctx: ServerContext): ToolContext {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  return {
    ...session,
    selection: (id) => session.selection(id),
    sessionId: ctx.sessionId ?? session.connectionId,
    signal: ctx.mcpReq.signal,
    progress: async (done, total, message) => {
      if (progressToken === undefined) return;
      await ctx.mcpReq.notify({
        method: "notifications/progress",
        params: {
          progressToken,
          progress: done,
          ...(total === undefined ? {} : { total }),
          ...(message === undefined ? {} : { message }),
        },
      });
    },
  };
}

function resultOf({ structured, content, isError }: ToolAnswer): CallToolResult {
  return {
    content: content === undefined ? [{ type: "text", text: JSON.stringify(structured) }] : [...content],
    structuredContent: structured,
    ...(isError === true ? { isError } : {}),
  };
}

/** The detail says what to do; the reason of an internal error is only logged. */
function failureOf(error: unknown): CallToolResult {
  const [code, detail, retryable] = PinakesError.isInstance(error)
    ? [error.code, error.detail, error.retryable]
    : [
        "INTERNAL",
        "The server failed. Try again; if the error persists, report it to the operator of the server.",
        true,
      ];
  return {
    content: [{ type: "text", text: `${code}: ${detail}` }],
    isError: true,
    _meta: { "io.pinakes/error": { code, retryable } },
  };
}
