/**
 * What a tool is: its contract for models, and what it runs. Tools call the client's interface, so the same tool works in a server, in a
 * process with its own stores, and on stdio against a remote server.
 */
import type { KnowledgeApi, StateApi } from "@pinakes/client";
import type { ContentBlock } from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { SelectionSlot } from "../catalogs/index.ts";

/** Whom a connection acts for, and through which interface. */
export interface McpSession {
  readonly knowledge: KnowledgeApi;
  readonly state: StateApi;
  readonly userId: string;
  /** A key that may only read: tools that write are refused. */
  readonly readOnly: boolean;
  /** Records that a call was refused before any of its calls was made. */
  denied?(tool: string, error: unknown): Promise<void>;
  /** Where the connection is the session, as on stdio. */
  readonly connectionId?: string | undefined;
  /** The catalog selection of a session or of an explicit handle; only this user's. */
  selection(sessionId: string): SelectionSlot;
  /** Address of the server, for links. */
  readonly baseUrl?: string | undefined;
}

/** One call of a tool. */
export interface ToolContext extends McpSession {
  /** Of the protocol, where it has sessions. */
  readonly sessionId: string | undefined;
  /** Aborted when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
  /** Sends a progress notification, where the client asked for them. */
  readonly progress: (done: number, total: number | undefined, message?: string) => Promise<void>;
}

export interface ToolAnswer {
  /** Matches the output schema, which is checked before it is sent. */
  readonly structured: object;
  /** For people and models; the structured content as JSON when absent. */
  readonly content?: readonly ContentBlock[] | undefined;
  /** The structured content describes an error of the tool's own contract. */
  readonly isError?: boolean | undefined;
}

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** What a destructive call would do. The client's user confirms it, or the call is a dry run. */
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

/** Before a destructive call: what it would do, or the answer where it cannot do anything. */
export type Consequence = Deletion | { readonly answer: ToolAnswer };

interface ToolSpec<Input extends z.ZodObject, Output extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Arguments that do not fit reach the tool, which answers errors in the form of its contract. */
  readonly checksInput?: boolean | undefined;
  readonly output: Output;
  readonly annotations: ToolAnnotations;
  /** Before a destructive call; undefined where the call needs no confirmation, such as with `confirm: true`. */
  consequence?(context: ToolContext, args: z.output<Input>): Promise<Consequence | undefined>;
  run(context: ToolContext, args: z.output<Input>): Promise<ToolAnswer>;
}

/** A tool whose types are checked already. */
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
