/**
 * A tool: its contract for models, and its implementation. Tools call the client's interface, so the same tool works in a server, in a
 * process with its own stores, and on stdio against a remote server.
 */
import type { KnowledgeApi, StateApi } from "@pinakes/client";
import type { ContentBlock } from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { SelectionSlot } from "../catalogs/index.ts";

/** The caller of a connection, and the interface it uses. */
export interface McpSession {
  readonly knowledge: KnowledgeApi;
  readonly state: StateApi;
  readonly userId: string;
  /** A read-only key: tools that write are refused. */
  readonly readOnly: boolean;
  /** Records a call that was refused before any request was made. */
  denied?(tool: string, error: unknown): Promise<void>;
  /** Set where the connection is the session, as on stdio. */
  readonly connectionId?: string | undefined;
  /** The catalog selection of a session or of an explicit handle; only this user's own. */
  selection(sessionId: string): SelectionSlot;
  /** Address of the server, for links. */
  readonly baseUrl?: string | undefined;
}

/** One call of a tool. */
export interface ToolContext extends McpSession {
  /** The protocol's session id, if it has sessions. */
  readonly sessionId: string | undefined;
  /** Aborted when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  /** Sends a progress notification, if the client requested them. */
  readonly progress: (done: number, total: number | undefined, message?: string) => Promise<void>;
}

export interface ToolAnswer {
  /** Matches the output schema; validated before it is sent. */
  readonly structured: object;
  /** Text for people and models; defaults to the structured content as JSON. */
  readonly content?: readonly ContentBlock[] | undefined;
  /** The structured content describes an error defined by the tool's contract. */
  readonly isError?: boolean | undefined;
}

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The effect of a destructive call. The client's user confirms it, or the call is a dry run. */
export interface Deletion {
  /** A question that a person can answer with yes or no. The consent counts for this question alone. */
  readonly question: string;
  /** Shown with the question; may differ when the consent arrives, such as a count of rows that others add. */
  readonly details?: string | undefined;
  /** The answer of the dry run: matches the output schema. */
  readonly dryRun: ToolAnswer;
  /** The arguments of the call once it is confirmed. */
  readonly confirmed: object;
}

/** Before a destructive call: its effect, or the result if it would have none. */
export type Consequence = Deletion | { readonly answer: ToolAnswer };

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Invalid arguments reach the tool, which returns errors in the form of its contract. */
  readonly checksInput?: boolean | undefined;
  readonly output: Output;
  readonly annotations: ToolAnnotations;
  /** Runs before a destructive call; undefined if the call needs no confirmation, for example with `confirm: true`. */
  consequence?(context: ToolContext, args: z.output<Input>): Promise<Consequence | undefined>;
  run(context: ToolContext, args: z.output<Input>): Promise<ToolAnswer>;
}

/** A tool whose types have been checked. */
export interface McpTool extends Pick<
  ToolSpec<z.ZodObject, z.ZodType>,
  "name" | "title" | "description" | "checksInput"
> {
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  readonly annotations: ToolAnnotations;
  consequence?(context: ToolContext, args: object): Promise<Consequence | undefined>;
  run(context: ToolContext, args: object): Promise<ToolAnswer>;
}

export function defineTool<Input extends z.ZodObject, Output extends z.ZodType>(
  spec: ToolSpec<Input, Output>,
): McpTool {
  return Object.freeze(spec);
}

export const reads: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const adds: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
export const changes: ToolAnnotations = { ...adds, destructiveHint: true };
