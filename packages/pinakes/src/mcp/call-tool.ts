/** One call of a tool: rights, confirmation, the tool itself, and its answer or error in the protocol's form. */
import {
  inputRequired,
  inputResponse,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { PinakesError } from "../domain/errors.ts";
import type { Consequence, McpSession, McpTool, ToolAnswer, ToolContext } from "./tool.ts";

export type ToolFailure = (error: unknown, tool: string) => void;

export interface CallOptions {
  readonly session: McpSession;
  readonly capabilities: ClientCapabilities | undefined;
  /** Hears of errors that are not the caller's fault. */
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
    if (session.readOnly && !tool.annotations.readOnlyHint)
      throw new PinakesError("FORBIDDEN", `This key may only read, and ${tool.name} writes. Use a key that may write.`);
    const consequence = await tool.consequence?.(context, args);
    if (consequence === undefined) return resultOf(await tool.run(context, args));
    const decision = decisionOf(consequence, ctx, capabilities);
    if (decision === "ask") return ask(consequence);
    return resultOf(decision === "confirmed" ? await tool.run(context, consequence.confirmed) : consequence.dryRun);
  } catch (error) {
    if (ctx.mcpReq.signal.aborted) throw error;
    if (!PinakesError.isInstance(error) || error.status >= 500) onFailure(error, tool.name);
    return failureOf(error);
  }
}

/** A client that cannot ask its user gets a dry run. */
function decisionOf(
  { question }: Consequence,
  ctx: ServerContext,
  capabilities: ClientCapabilities | undefined,
): "ask" | "confirmed" | "refused" {
  const reply = inputResponse(ctx.mcpReq.inputResponses, confirmKey(question));
  if (reply.kind === "elicit")
    return reply.action === "accept" && reply.content?.["confirm"] === true ? "confirmed" : "refused";
  return capabilities?.elicitation === undefined ? "refused" : "ask";
}

/** Bound to the question, so that a consent to one deletion is none to another. */
function confirmKey(question: string): string {
  return `confirm: ${question}`.slice(0, 200);
}

function ask({ question }: Consequence): InputRequiredResult {
  return inputRequired({
    inputRequests: {
      [confirmKey(question)]: inputRequired.elicit({
        message: question,
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

/** The detail says what to do; an error of ours keeps its reason to the log. */
function failureOf(error: unknown): CallToolResult {
  const [code, detail, retryable] = PinakesError.isInstance(error)
    ? [error.code, error.detail, error.retryable]
    : ["INTERNAL", "The server failed. Try again; if it stays, tell whoever runs the server.", true];
  return {
    content: [{ type: "text", text: `${code}: ${detail}` }],
    isError: true,
    _meta: { "io.pinakes/error": { code, retryable } },
  };
}
