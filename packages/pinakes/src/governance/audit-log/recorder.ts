/**
 * Runs a call and records it: its entry is durable before the caller gets the response; otherwise the caller gets an error. The rule is the
 * same for every interface: it records changes that succeeded, or may have (5xx), all denials, and everything done for another user.
 */
import type { AuditFace, AuditOutcome, AuditVerb } from "@pinakes/client";
import { PinakesError } from "../../domain/errors.ts";
import type { Authenticated } from "../../identity/index.ts";
import { withCallNotes, type CallNotes } from "../../runtime/call-notes.ts";
import type { AuditLog } from "./audit-log.ts";

/** What a successful operation is recorded as; `none`: it only reads. `document`: reads a document, recorded if reads are recorded. */
export type CallVerb = AuditVerb | "none" | "document";

export interface RecordedCall {
  readonly action: string;
  readonly resource: string;
  readonly verb: CallVerb;
  readonly face: AuditFace;
  /** Known once it was recognised. */
  readonly auth: () => Authenticated | undefined;
  readonly ip?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly requestId?: string | undefined;
}

/** How it ended. */
export interface CallEnd {
  readonly status?: number | undefined;
  /** The original error, also if the response states it differently. */
  readonly failure?: unknown;
  /** Ids from the call and its response; see resource-ids.ts. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Set if the request is a purging delete. */
  readonly verb?: AuditVerb | undefined;
}

export class AuditRecorder {
  readonly #log: AuditLog;

  constructor(log: AuditLog) {
    this.#log = log;
  }

  /** `endOf`: how it ended, by what `run` returned or threw. */
  async around<T>(
    call: RecordedCall,
    run: () => Promise<T>,
    endOf: (result: T | undefined, failure: unknown) => CallEnd,
  ): Promise<T> {
    if (this.#log.mode === "off") return run();
    const notes: CallNotes = {};
    let result: T;
    try {
      result = await withCallNotes(notes, run);
    } catch (error) {
      await this.#record(call, notes, endOf(undefined, error));
      throw error;
    }
    await this.#record(call, notes, endOf(result, undefined));
    return result;
  }

  async #record(call: RecordedCall, notes: CallNotes, end: CallEnd): Promise<void> {
    const verb = end.verb ?? verbOf(call.verb, notes, this.#log.mode === "reads");
    const outcome = outcomeOf(end, notes, verb !== undefined && verb !== "read");
    if (outcome === undefined || (outcome === "ok" && verb === undefined)) return;
    const auth = call.auth();
    const { who } = notes;
    await this.#log.append(auth?.caller.scope ?? (who === undefined ? undefined : { tenant: who.tenant }), {
      verb: verb ?? "read",
      action: notes.change === undefined ? call.action : `${call.action}.${notes.change}`,
      outcome,
      status: end.status,
      userId: auth?.caller.userId ?? who?.userId,
      actingFor: notes.actingFor,
      role: auth?.caller.role ?? who?.role,
      via: auth?.via,
      keyId: auth?.keyId ?? who?.keyId,
      resource: call.resource,
      fields: end.fields,
      face: call.face,
      ip: call.ip,
      userAgent: call.userAgent,
      requestId: call.requestId,
    });
  }
}

/** Undefined: a read that is not recorded unless it is denied. */
function verbOf(verb: CallVerb, notes: CallNotes, reads: boolean): AuditVerb | undefined {
  if (verb === "document") return reads || notes.actingFor !== undefined ? "read" : undefined;
  if (verb !== "none") return verb;
  if (notes.change !== undefined) return "update";
  return notes.actingFor === undefined ? undefined : "read";
}

/** Undefined if it failed without any effect, and nobody was denied. */
function outcomeOf({ status, failure }: CallEnd, notes: CallNotes, changes: boolean): AuditOutcome | undefined {
  if (failure === undefined && (status === undefined || status < 400)) return "ok";
  if (status === 401 || status === 403 || notes.access === "denied" || isDenial(failure)) return "denied";
  if (notes.access === "absent" && (status === 404 || isAbsent(failure))) return "not_found";
  const known = codesOf(failure);
  const ours = status === undefined ? !known.some(({ status: one }) => one < 500) : status >= 500 && status !== 501;
  return changes && ours ? "failed" : undefined;
}

function isDenial(failure: unknown): boolean {
  return codesOf(failure).some(({ code }) => code === "FORBIDDEN" || code === "UNAUTHENTICATED");
}

function isAbsent(failure: unknown): boolean {
  return codesOf(failure).some(({ code }) => code === "NOT_FOUND");
}

const causesMax = 5;

function codesOf(failure: unknown): readonly PinakesError[] {
  const found: PinakesError[] = [];
  for (let error = failure, i = 0; error instanceof Error && i < causesMax; error = error.cause, i += 1)
    if (PinakesError.isInstance(error)) found.push(error);
  return found;
}
