/**
 * A telemetry integration of the AI SDK: each model call becomes latency and token_usage metrics, each tool execution a tool
 * invocation. Lines wait in memory and are sent together; nothing here waits for the network or throws into the call it observes.
 */
import { createClient, type StateApi } from "@pinakes/client";
import type { Telemetry } from "ai";
import { identityOf, OpenCalls, type CallFacts, type CallIdentity } from "./call-identity.ts";
import { invocationOf, metricsOf, type ModelCall } from "./rows.ts";

export interface PinakesTelemetryOptions {
  /** Defaults for calls that do not specify them: an agent's name, a session, a workflow. */
  readonly identify?: ((facts: CallFacts) => Partial<CallIdentity>) | undefined;
  /** The dimension `environment` of metrics. Default: "production". */
  readonly environment?: string | undefined;
  /** How long a line waits at most, in milliseconds. Default: 1,000. */
  readonly flushMs?: number | undefined;
  /** Maximum number of lines buffered while Pinakes is unreachable; further ones are dropped. Default: 10,000 of each kind. */
  readonly bufferLinesMax?: number | undefined;
  /** Told of each send that failed (it is repeated) and of lines that are lost. Default: a process warning. */
  readonly onError?: ((error: unknown, linesLost: number) => void) | undefined;
}

export interface PinakesTelemetry extends Telemetry {
  /** Resolves when everything observed so far is stored; rejects when that failed (the lines stay, and are tried again). */
  flush(): Promise<void>;
  /** Flushes and closes the recorder, for the end of the program. Rejects if lines were lost. */
  close(): Promise<void>;
}

/** Calls whose context is remembered at a time. */
const openCallsMax = 10_000;

/**
 * @example
 * registerTelemetry(pinakesTelemetry(createStateClient({ url, apiKey }).api));
 * await generateText({ model, prompt, runtimeContext: { session_id }, telemetry: { functionId: "support", includeRuntimeContext: { session_id: true } } });
 */
export function pinakesTelemetry(api: StateApi, options: PinakesTelemetryOptions = {}): PinakesTelemetry {
  const environment = options.environment ?? "production";
  const calls = new OpenCalls(openCallsMax);
  const embeds = new Map<string, number>();
  const client = createClient(api);
  const recorderOptions = {
    flushMs: options.flushMs,
    maxBuffer: options.bufferLinesMax,
    onError: reporter(options.onError ?? warn),
  };
  const metrics = client.metrics.recorder(recorderOptions);
  const tools = client.tools.recorder(recorderOptions);
  const identify = (event: EventFacts) => {
    const facts = calls.facts(event);
    return identityOf(facts, options.identify?.(facts) ?? {});
  };
  const record = (event: EventFacts, call: ModelCall) => {
    for (const line of metricsOf(call, identify(event), environment, timeOf(event))) metrics.record(line);
  };
  return {
    onStart: (event) => calls.begin(event.callId, "runtimeContext" in event ? event.runtimeContext : undefined),
    onLanguageModelCallEnd: (event) => {
      const { inputTokens, outputTokens, totalTokens } = event.usage;
      const latencyMs = event.performance.responseTimeMs;
      record(event, { model: event.modelId, latencyMs, inputTokens, outputTokens, totalTokens });
    },
    onEmbedStart: (event) => {
      if (embeds.size < openCallsMax) embeds.set(event.embedCallId, performance.now());
    },
    onEmbedEnd: (event) => {
      const begun = embeds.get(event.embedCallId);
      embeds.delete(event.embedCallId);
      if (begun === undefined) return;
      const tokens = Number.isFinite(event.usage.tokens) ? event.usage.tokens : undefined;
      record(event, {
        model: event.modelId,
        latencyMs: performance.now() - begun,
        inputTokens: tokens,
        outputTokens: undefined,
        totalTokens: tokens,
      });
    },
    onToolExecutionEnd: (event) => {
      const { toolCall, toolOutput, toolExecutionMs } = event;
      const output =
        toolOutput.type === "tool-error"
          ? { ok: false as const, error: toolOutput.error }
          : { ok: true as const, value: toolOutput.output };
      const call = { toolName: toolCall.toolName, input: toolCall.input, output, durationMs: toolExecutionMs };
      tools.record(invocationOf(call, identify(event), timeOf(event)));
    },
    onEnd: (event) => calls.end(event.callId),
    onAbort: (event) => calls.end(event.callId),
    onError: (event) => calls.end((event as { readonly callId?: unknown } | null | undefined)?.callId),
    flush: () => both((recorder) => recorder.flush()),
    close: () => both((recorder) => recorder.close()),
  };

  /** Both are tried, whatever becomes of the first. */
  async function both(
    run: (recorder: { flush(): Promise<void>; close(): Promise<void> }) => Promise<void>,
  ): Promise<void> {
    const failed = (await Promise.allSettled([run(metrics), run(tools)])).find(
      (result) => result.status === "rejected",
    );
    if (failed !== undefined) throw failed.reason;
  }
}

interface EventFacts {
  readonly callId: string;
  readonly functionId?: string | undefined;
  readonly timestamp?: number | undefined;
}

/** Events of durable runs are reported later and contain their time. */
const timeOf = (event: EventFacts) => new Date(event.timestamp ?? Date.now());

/** An error in telemetry must not fail the observed call, inside which recording happens. */
function reporter(onError: (error: unknown, linesLost: number) => void) {
  return (error: unknown, lost: readonly unknown[]): void => {
    try {
      onError(error, lost.length);
    } catch (failure) {
      warn(failure, 0);
    }
  };
}

function warn(error: unknown, linesLost: number): void {
  const why = error instanceof Error ? error.message : String(error);
  // On edge runtimes there is no process object for warnings.
  globalThis.process?.emitWarning?.(
    `Pinakes telemetry: ${linesLost === 0 ? "will be tried again" : `${linesLost} lines lost`}: ${why}`,
  );
}
