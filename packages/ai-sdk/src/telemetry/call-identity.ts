/** The agent, the session and the workflow of a call, by which metrics and tool invocations are grouped. */

/** The fields of a call that the AI SDK reports. */
export interface CallFacts {
  readonly callId: string;
  /** `telemetry.functionId` of the call. */
  readonly functionId: string | undefined;
  /** The part of `runtimeContext` that `telemetry.includeRuntimeContext` allows. */
  readonly context: Readonly<Record<string, unknown>>;
}

export interface CallIdentity {
  readonly agent_id: string;
  readonly session_id: string;
  readonly workflow_id: string | null;
  readonly user_id: string | null;
}

const agentDefault = "ai-sdk";

/** `overrides` win, then the context under either spelling, then the function's id; a call without a session is its own. */
export function identityOf(facts: CallFacts, overrides: Partial<CallIdentity>): CallIdentity {
  const { context } = facts;
  return {
    agent_id: overrides.agent_id ?? text(context["agent_id"] ?? context["agentId"]) ?? facts.functionId ?? agentDefault,
    session_id: overrides.session_id ?? text(context["session_id"] ?? context["sessionId"]) ?? facts.callId,
    workflow_id: overrides.workflow_id ?? text(context["workflow_id"] ?? context["workflowId"]) ?? null,
    user_id: overrides.user_id ?? text(context["user_id"] ?? context["userId"]) ?? null,
  };
}

function text(value: unknown): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  return typeof value === "number" ? String(value) : undefined;
}

/** Calls in progress: only the first event contains their context. Bounded, since the last event of a call may never arrive. */
export class OpenCalls {
  readonly #contexts = new Map<string, Readonly<Record<string, unknown>>>();
  readonly #callsMax: number;

  constructor(callsMax: number) {
    this.#callsMax = callsMax;
  }

  begin(callId: string, context: unknown): void {
    if (typeof context !== "object" || context === null || Object.keys(context).length === 0) return;
    this.#contexts.set(callId, context as Readonly<Record<string, unknown>>);
    const oldest = this.#contexts.keys().next();
    if (this.#contexts.size > this.#callsMax && !oldest.done) this.#contexts.delete(oldest.value);
  }

  facts(event: { readonly callId: string; readonly functionId?: string | undefined }): CallFacts {
    return { callId: event.callId, functionId: event.functionId, context: this.#contexts.get(event.callId) ?? {} };
  }

  end(callId: unknown): void {
    if (typeof callId === "string") this.#contexts.delete(callId);
  }
}
