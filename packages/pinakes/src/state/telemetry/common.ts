/** Shared by spans, metrics and logs: identity, time, and an id that is stable across retries of an exporter. */
import type { NewMetric, NewToolInvocation } from "@pinakes/client";
import type { Attributes } from "./attributes.ts";

/** The rows of one input record; empty: nothing is stored. */
export interface Mapped {
  readonly metrics: readonly NewMetric[];
  readonly tools: readonly NewToolInvocation[];
}

export const nothing: Mapped = Object.freeze({ metrics: [], tools: [] });

export function agentOf(attributes: Attributes): string | undefined {
  return attributes.text("gen_ai.agent.id", "gen_ai.agent.name");
}

export function sessionOf(attributes: Attributes): string | undefined {
  return attributes.text("gen_ai.conversation.id", "session.id", "thread.id");
}

export function modelOf(attributes: Attributes): string {
  return attributes.text("gen_ai.request.model", "gen_ai.response.model", "llm.request.model") ?? "";
}

/** Includes deprecated names. */
export function tokensOf(attributes: Attributes): { readonly input: number; readonly output: number } | undefined {
  const input = attributes.number("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens");
  const output = attributes.number(
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
  );
  return input === undefined && output === undefined ? undefined : { input: input ?? 0, output: output ?? 0 };
}

export function environmentOf(attributes: Attributes): string {
  return attributes.text("deployment.environment.name", "deployment.environment") ?? "";
}

/** Undefined for an invalid time. */
export function timestampOf(nanoseconds: string | number | null | undefined): string | undefined {
  const ms = nanosToMs(nanoseconds);
  return ms === undefined || ms <= 0 || ms > 8.64e15 ? undefined : new Date(ms).toISOString();
}

export function nanosToMs(nanoseconds: string | number | null | undefined): number | undefined {
  if (nanoseconds === undefined || nanoseconds === null) return undefined;
  try {
    // Nanoseconds do not fit into a number; milliseconds with six decimals do.
    const exact = BigInt(nanoseconds);
    return Number(exact / 1_000_000n) + Number(exact % 1_000_000n) / 1e6;
  } catch {
    return undefined;
  }
}

/** Hexadecimal, as in JSON; protobuf sends bytes. Undefined: absent, or all zeros. */
export function hexId(id: string | Uint8Array | null | undefined): string | undefined {
  const hex =
    typeof id === "string" ? id.toLowerCase() : id instanceof Uint8Array ? Buffer.from(id).toString("hex") : "";
  return /^[0-9a-f]{1,64}$/.test(hex) && !/^0+$/.test(hex) ? hex : undefined;
}
