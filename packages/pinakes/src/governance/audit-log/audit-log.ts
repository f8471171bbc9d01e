/**
 * The audit log of all workspaces (RFC 0013): `record` makes an entry durable before it resolves; the other methods read and prove entries.
 *
 * Invariant: an entry that was acknowledged is in the tree under the index it got, and every later checkpoint covers it.
 */
import type { AuditFace, AuditOutcome, AuditVerb } from "@pinakes/client";
import type { ItemStore } from "../../ports/item-store.ts";
import type { Clock } from "../../ports/clock.ts";
import { reasonOf, type Log } from "../../domain/log.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import { Checkpoints } from "./checkpoints.ts";
import { leafOf } from "./entry.ts";
import { auditLimits } from "./limits.ts";
import { logContainer, subjectContainer, type LogItems } from "./records.ts";
import { writtenIds } from "./resource-ids.ts";
import { seal } from "./seal.ts";
import { Subjects, type SubjectRef } from "./subjects.ts";
import { WorkspaceLog } from "./workspace-log.ts";

/** `off`: nothing is recorded. `reads`: reads of documents are recorded as well. */
export type AuditMode = "off" | "changes" | "reads";

/** Where entries of calls without a known workspace go; only the operator reads them. */
export const instanceTenant = "pinakes.instance";

export interface AuditEvent {
  readonly verb: AuditVerb;
  readonly action: string;
  readonly outcome: AuditOutcome;
  readonly status?: number | undefined;
  /** Absent if nobody is signed in, or for the system. */
  readonly userId?: string | undefined;
  readonly actingFor?: string | undefined;
  readonly role?: string | undefined;
  readonly via?: string | undefined;
  readonly keyId?: string | undefined;
  readonly resource: string;
  /** Fields of the call and of its answer; those that name resources are recorded (resource-ids.ts). */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly face: AuditFace;
  readonly ip?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface AuditLogDependencies {
  readonly items: ItemStore;
  readonly system: SystemScope;
  readonly clock: Clock;
  readonly log: Log;
  readonly mode: AuditMode;
  readonly storeId: string;
  readonly seeds: () => readonly string[];
}

export class AuditLog {
  readonly mode: AuditMode;
  readonly items: LogItems;
  readonly subjects: Subjects;
  readonly checkpoints: Checkpoints;
  readonly #deps: AuditLogDependencies;
  readonly #logs = new Map<string, WorkspaceLog>();
  readonly #sealing = new Map<string, Promise<void>>();
  readonly #sealedAt = new Map<string, number>();
  readonly #closing = new AbortController();

  private constructor(deps: AuditLogDependencies, items: LogItems, subjects: Subjects) {
    this.#deps = deps;
    this.mode = deps.mode;
    this.items = items;
    this.subjects = subjects;
    this.checkpoints = new Checkpoints({ items, storeId: deps.storeId, seeds: deps.seeds });
  }

  static async open(deps: AuditLogDependencies): Promise<AuditLog> {
    const items = await logContainer.open(deps.items);
    const records = await subjectContainer.open(deps.items);
    return new AuditLog(deps, items, new Subjects({ records, clock: deps.clock }));
  }

  /** The scope of a workspace's log; of the instance's without one. */
  scopeOf(tenant: string = instanceTenant): Scope {
    return this.#deps.system.forTenant(tenant);
  }

  /**
   * Returns the index once the entry is durable. Without a workspace it goes to the log of the instance. Undefined if nothing is recorded.
   * @example await audit.append(caller.scope, { verb: "erase", action: "eraseSubject", outcome: "ok", resource: "erasures", … });
   */
  async append(workspace: Pick<Scope, "tenant"> | undefined, event: AuditEvent): Promise<number | undefined> {
    if (this.mode === "off") return undefined;
    try {
      const scope = this.scopeOf(workspace?.tenant);
      return await this.#logOf(scope).append(await this.#leafOf(scope, event));
    } catch (error) {
      throw new PinakesError(
        "UNAVAILABLE",
        "The audit log could not be written, so the request fails. The change may have been made: check before you retry.",
        { cause: error },
      );
    }
  }

  /**
   * Makes all entries of a subject anonymous: the salt of its tokens is deleted, the tree is unchanged. False if it had none. A
   * collection's id is `<repository>/<collection>`, that of a user's own repository `me:<user id>`.
   */
  async forgetSubject(workspace: Pick<Scope, "tenant">, subject: SubjectRef): Promise<boolean> {
    return this.subjects.forget(this.scopeOf(workspace.tenant), subject);
  }

  /** Seals all complete bundles, and waits for it. */
  async seal(scope: Scope): Promise<void> {
    await this.#sealing.get(scope.tenant);
    const sealed = await seal(this.items, scope, this.#closing.signal);
    if (sealed > 0) await this.checkpoints.sign(scope);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#logs.values()].map((one) => one.settled()));
    await Promise.all(this.#sealing.values());
  }

  async #leafOf(scope: Scope, event: AuditEvent): Promise<string> {
    const { subjects } = this;
    const user = (id: string | undefined): SubjectRef =>
      id === undefined ? { kind: "anonymous", id: "anonymous" } : { kind: "user", id };
    const [actor, workspace, actingFor] = await Promise.all([
      subjects.of(scope, user(event.userId)),
      subjects.of(scope, { kind: "workspace", id: scope.tenant }),
      event.actingFor === undefined ? undefined : subjects.of(scope, user(event.actingFor)),
    ]);
    const { userId } = event;
    return leafOf({
      at: new Date(this.#deps.clock.now()).toISOString(),
      verb: event.verb,
      action: event.action,
      outcome: event.outcome,
      status: event.status ?? null,
      actor: actor.token,
      ...(actingFor === undefined ? {} : { for: actingFor.token }),
      role: event.role ?? null,
      via: event.via ?? null,
      key: event.keyId ?? null,
      resource: event.resource,
      ids: await writtenIds(event.fields, { scope, subjects, workspace, userId }),
      face: event.face,
      origin: actor.seal(
        JSON.stringify([
          event.ip ?? null,
          event.userAgent?.slice(0, auditLimits.idCharsMax) ?? null,
          event.requestId ?? null,
        ]),
      ),
    });
  }

  #logOf(scope: Scope): WorkspaceLog {
    const known = this.#logs.get(scope.tenant);
    if (known !== undefined) return known;
    if (this.#logs.size >= auditLimits.workspacesOpenMax)
      for (const [tenant, one] of this.#logs) if (one.idle) this.#logs.delete(tenant);
    const made = new WorkspaceLog({ items: this.items, scope, onCommit: (size) => this.#committed(scope, size) });
    this.#logs.set(scope.tenant, made);
    return made;
  }

  /** Seals in the background, with room to spare so that one seal covers several commits. */
  #committed(scope: Scope, size: number): void {
    const { tenant } = scope;
    const bundles = Math.floor(size / auditLimits.bundleLeaves);
    if (bundles === (this.#sealedAt.get(tenant) ?? 0) || this.#sealing.has(tenant) || this.#closing.signal.aborted)
      return;
    const work = seal(this.items, scope, this.#closing.signal)
      .then(async (count) => {
        this.#sealedAt.set(tenant, bundles);
        if (count > 0 && !this.#closing.signal.aborted) await this.checkpoints.sign(scope);
      })
      .catch((error: unknown) => {
        this.#deps.log(`audit log: sealing failed and is repeated: ${reasonOf(error)}`, "warn", { workspace: tenant });
      })
      .finally(() => this.#sealing.delete(tenant));
    this.#sealing.set(tenant, work);
  }
}
