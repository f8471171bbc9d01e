/** A tool of the catalog contract: its input, its envelope, and how an operation becomes one. */
import type { KnowledgeApi } from "@pinakes/client";
import { z } from "zod";
import { jsonValue } from "../contract/index.ts";
import type { JsonObject } from "../domain/json.ts";
import { CatalogError, asCatalogError, catalogErrorCodes, type CatalogErrorCode } from "./catalog-error.ts";
import type { SelectionSlot } from "./selections.ts";

/** The answer to every call, success or error. */
export interface CatalogEnvelope {
  readonly content: readonly { readonly text: string }[];
  readonly status: "success" | "error";
  readonly metadata: { readonly tool_type: "knowledge_base"; readonly error_code?: string } & JsonObject;
}

export const CatalogEnvelopeSchema: z.ZodType<CatalogEnvelope> = z.object({
  content: z.array(z.object({ text: z.string() })).describe("The result as text."),
  status: z.enum(["success", "error"]),
  metadata: z
    .object({
      tool_type: z.literal("knowledge_base"),
      error_code: z.enum(catalogErrorCodes).optional().describe("The error code."),
    })
    .catchall(jsonValue())
    .describe("The result as data."),
}) as unknown as z.ZodType<CatalogEnvelope>;

export interface CatalogContext {
  readonly knowledge: KnowledgeApi;
  readonly userId: string;
  /** Undefined if the protocol has no session and the caller passed no handle. */
  readonly selection: SelectionSlot | undefined;
  readonly signal?: AbortSignal | undefined;
  /** URL prefix for links. */
  readonly baseUrl?: string | undefined;
}

export interface CatalogTool {
  readonly name: string;
  readonly title: string;
  /** For a model: when to use it, and what it returns. */
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodType;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** Validates the arguments itself; errors of the contract are results, not exceptions. */
  run(context: CatalogContext, args: never): Promise<CatalogEnvelope>;
}

/** The result of an operation: text, and the metadata beside `tool_type`. */
export interface CatalogResult {
  readonly text: string;
  readonly metadata: JsonObject;
}

interface Definition<Input extends z.ZodObject> extends Pick<CatalogTool, "name" | "title" | "description"> {
  readonly input: Input;
  readonly readOnly?: boolean;
  readonly destructive?: boolean;
  readonly idempotent?: boolean;
  run(context: CatalogContext, args: z.output<Input>): Promise<CatalogResult>;
}

export function defineTool<Input extends z.ZodObject>(definition: Definition<Input>): CatalogTool {
  const { name, title, description, input, readOnly = false, destructive = false, idempotent = readOnly } = definition;
  return {
    name,
    title,
    description,
    input,
    output: CatalogEnvelopeSchema,
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      // Only the user's own catalogs.
      openWorldHint: false,
    },
    run: (context, args) => enveloped(async () => definition.run(context, checkInput(input, args))),
  };
}

/** The envelope of an operation. Throws only internal errors of the server. */
export async function enveloped(run: () => Promise<CatalogResult>): Promise<CatalogEnvelope> {
  try {
    const { text, metadata } = await run();
    return { content: [{ text }], status: "success", metadata: { tool_type: "knowledge_base", ...metadata } };
  } catch (error) {
    const known = asCatalogError(error);
    if (known === undefined) throw error;
    return errorEnvelope(known);
  }
}

export function errorEnvelope({
  message,
  code,
  more,
}: Pick<CatalogError, "message" | "code" | "more">): CatalogEnvelope {
  return {
    content: [{ text: message }],
    status: "error",
    metadata: { tool_type: "knowledge_base", error_code: code, ...more },
  };
}

/** Fields whose validation errors have their own code. */
const codes: Readonly<Record<string, CatalogErrorCode>> = {
  catalog_name: "INVALID_NAME",
  description: "INVALID_DESCRIPTION",
  filename: "INVALID_FILENAME",
  file_content: "INVALID_FILE_CONTENT",
};
const issuesMax = 5;

export function checkInput<Input extends z.ZodType>(input: Input, args: unknown): z.output<Input> {
  const checked = input.safeParse(args);
  if (checked.success) return checked.data;
  const { issues } = checked.error;
  const [first] = issues;
  const code = codes[String(first?.path[0])] ?? "INVALID_INPUT";
  const lines = issues.slice(0, issuesMax).map(({ path, message }) => {
    const where = path.join(".");
    return where === "" || message.startsWith(`${where}:`) ? message : `${where}: ${message}`;
  });
  throw new CatalogError(code, lines.join(" "));
}

/** The result for invalid arguments; undefined if they are valid. */
export function inputError(input: z.ZodType, args: unknown): CatalogEnvelope | undefined {
  try {
    checkInput(input, args);
    return undefined;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return errorEnvelope(error);
  }
}
