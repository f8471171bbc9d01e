/** Responses of the transport itself, before or instead of a server, in the protocol's form. */
import { z } from "zod";

/** Error codes of the transport, as numbered by the SDK. */
export const rpcCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  internal: -32_603,
  refused: -32_000,
  noSession: -32_001,
} as const;

export function rpcError(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status, headers });
}

const Answer = z.looseObject({ id: z.union([z.string(), z.number()]), method: z.undefined().optional() });

/** A client's response to a request of the server. */
export function answerIdOf(message: unknown): string | number | undefined {
  const parsed = Answer.safeParse(message);
  return parsed.success && !("method" in parsed.data) ? parsed.data.id : undefined;
}

const Call = z.looseObject({ method: z.string(), params: z.looseObject({}).optional() });

export function methodOf(message: unknown): string | undefined {
  return Call.safeParse(message).data?.method;
}

const ToolCall = z.looseObject({ method: z.literal("tools/call"), params: z.looseObject({ name: z.string() }) });

/** The tool that a request calls; undefined for any other request. */
export function calledToolOf(message: unknown): string | undefined {
  return ToolCall.safeParse(message).data?.params.name;
}

const Listen = z.looseObject({
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()).optional() }).optional(),
  }),
});

export function subscribedUris(message: unknown): readonly string[] {
  return Listen.safeParse(message).data?.params.notifications?.resourceSubscriptions ?? [];
}
