/**
 * Runs the recorded steps of migrations under a lease (RFC 0009): on request, and in the background. If the process dies, another takes the
 * migration over when its lease has expired.
 */
import type { WorkRegistry } from "../containers/index.ts";
import type { Caller } from "../domain/caller.ts";
import { hasCode } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { AllowedSources } from "./allowed-sources.ts";
import type { MigrationDependencies } from "./dependencies.ts";
import { authorizeStep, openSource } from "./kinds.ts";
import { lostLease, type Ledger } from "./ledger.ts";
import { migrationLimits } from "./limits.ts";
import { isWork, onward, type MigrationRecord, type State } from "./records.ts";
import { view, type MigrationView } from "./views.ts";
import { work } from "./worker.ts";

export interface DriveOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((record: MigrationView) => void) | undefined;
}

interface RunnerDependencies {
  readonly deps: MigrationDependencies;
  readonly ledger: Ledger;
  readonly registry: WorkRegistry;
  readonly sources: AllowedSources;
}

export class MigrationRunner {
  readonly #deps: MigrationDependencies;
  readonly #ledger: Ledger;
  readonly #registry: WorkRegistry;
  readonly #sources: AllowedSources;

  constructor({ deps, ledger, registry, sources }: RunnerDependencies) {
    this.#deps = deps;
    this.#ledger = ledger;
    this.#registry = registry;
    this.#sources = sources;
  }

  /** Works until the migration waits for a request. UNAVAILABLE while another process works on it. */
  async run(
    scope: Scope,
    migrationId: string,
    { signal = new AbortController().signal, onProgress }: DriveOptions,
  ): Promise<MigrationRecord> {
    let record = await this.#take(scope, migrationId);
    while (isWork(record.state)) {
      const { state } = record;
      const tell = async (progress: MigrationRecord["progress"]) => {
        signal.throwIfAborted();
        record = await this.#asOwner(scope, migrationId, (current) => ({ ...current, progress }));
        onProgress?.(view(record));
      };
      try {
        const caller = this.#deps.callerOf({ tenant: scope.tenant, userId: record.created_by, role: "admin" });
        await using source = await openSource({ kind: record.kind, spec: record.source }, this.#opening(caller));
        const next = await work({ deps: this.#deps, ledger: this.#ledger, scope, record, source, signal, tell });
        const refused = await this.#refused(scope, { ...record, error: null, ...next });
        record = await this.#asOwner(scope, migrationId, (current) => {
          const done = { ...current, error: refused ?? null, progress: null, ...next };
          return { ...done, state: onward(done, done), lease_owner: null, lease_until: 0 };
        });
        if (isWork(record.state)) record = await this.#take(scope, migrationId);
      } catch (error) {
        await this.#failed(scope, migrationId, state, error);
        throw error;
      }
    }
    onProgress?.(view(record));
    return record;
  }

  /** One pass over the unfinished migrations of all tenants, for the background. */
  async tick(signal: AbortSignal): Promise<void> {
    let failure: Error | undefined;
    for await (const entry of this.#registry.due(this.#deps.clock.now())) {
      if (signal.aborted) return;
      const scope = this.#deps.system.forTenant(entry.tenant);
      try {
        const record = await this.#ledger.read(scope, entry.key);
        if (record !== undefined && isWork(record.state)) {
          // Another process is working on it, or it was just attempted.
          if (record.lease_until > this.#deps.clock.now()) continue;
          await this.run(scope, entry.key, { signal });
        }
        await this.#registry.remove(entry);
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
      }
    }
    if (failure !== undefined) throw failure;
  }

  /** For automatic migrations: why the requester may no longer do it, according to the current records. The migration then waits. */
  async #refused(scope: Scope, done: MigrationRecord): Promise<string | undefined> {
    const { asker, kind, source } = done;
    if (asker === undefined || !isWork(onward(done, done))) return undefined;
    const { user_id: userId, role, groups } = asker;
    const caller = this.#deps.callerOf({ tenant: scope.tenant, userId, role, groups });
    try {
      await authorizeStep({ kind, spec: source }, this.#opening(caller), { purge: false });
      return undefined;
    } catch (error) {
      if (hasCode(error, "FORBIDDEN", "NOT_FOUND")) return error.detail;
      throw error;
    }
  }

  async #take(scope: Scope, migrationId: string): Promise<MigrationRecord> {
    const { owner, clock } = this.#deps;
    return this.#ledger.update(scope, migrationId, (current) => {
      if (!isWork(current.state)) return undefined;
      if (current.lease_owner !== null && current.lease_owner !== owner && current.lease_until > clock.now())
        throw lostLease(migrationId);
      return { ...current, lease_owner: owner, lease_until: clock.now() + migrationLimits.leaseMs };
    });
  }

  async #asOwner(
    scope: Scope,
    migrationId: string,
    change: (record: MigrationRecord) => MigrationRecord,
  ): Promise<MigrationRecord> {
    const { owner, clock } = this.#deps;
    return this.#ledger.update(scope, migrationId, (current) => {
      if (current.lease_owner !== owner) throw lostLease(migrationId);
      return { ...change({ ...current, lease_until: clock.now() + migrationLimits.leaseMs }), updated_at: this.#now() };
    });
  }

  /** The state stays, with the error. A request retries at once; the background waits for a while. */
  async #failed(scope: Scope, migrationId: string, state: State, error: unknown): Promise<void> {
    const detail = error instanceof Error ? error.message : String(error);
    await this.#ledger
      .update(scope, migrationId, (current) =>
        current.state === state && current.lease_owner === this.#deps.owner
          ? {
              ...current,
              error: detail,
              lease_owner: null,
              lease_until: this.#deps.clock.now() + migrationLimits.retryMs,
              updated_at: this.#now(),
            }
          : undefined,
      )
      .catch((cause: unknown) =>
        this.#deps.log(
          `migration ${migrationId} failed (${detail}), and the error could not be stored: ${String(cause)}`,
        ),
      );
  }

  #opening(caller: Caller) {
    return { deps: this.#deps, sources: this.#sources, caller };
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }
}
