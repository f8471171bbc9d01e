/**
 * Migrations of a workspace (RFC 0009): created, advanced step by step, and driven. Admins only, except for kinds that users may request. A
 * requested step is recorded as work; any process may execute it, and another takes over if that one dies.
 */
import { WorkRegistry } from "../containers/index.ts";
import { requireCaller, type Caller } from "../domain/caller.ts";
import { PinakesError, invalid, show } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Scope } from "../domain/scope.ts";
import { authorizeStep, isForUsers, openSource, readSpec, settleSpec } from "./kinds.ts";
import { Ledger } from "./ledger.ts";
import { migrationLimits } from "./limits.ts";
import type { MigrationDependencies } from "./dependencies.ts";
import { AllowedSources } from "./allowed-sources.ts";
import {
  begin,
  migrationsContainer,
  migrationsTenant,
  migrationsWork,
  type MigrationRecord,
  type Step,
  type UnitRecord,
} from "./records.ts";
import { unitView, view, type MigrationView, type UnitView } from "./views.ts";
import { MigrationRunner, type DriveOptions } from "./migration-runner.ts";

export interface NewMigration {
  /** `{ kind, … }`: docs/migrations.md. */
  readonly source: unknown;
  /** How long the old form is kept after the switch; default 30. */
  readonly retain_days?: number | undefined;
  /** Continue automatically from step to step, up to the switch, while there are no problems. */
  readonly auto?: boolean | undefined;
}

/** Units read for the `trash_until` of a migration; each unit reports its own. */
const unitsLookedAt = 50;

export interface FinishOptions {
  /** Remove the old form; never without this. */
  readonly remove_old?: boolean | undefined;
  /** Before `retain_until`. */
  readonly now?: boolean | undefined;
}

interface BeginOptions {
  /** Whether the request differs from the work in progress, or follows a failure. */
  readonly again?: (record: MigrationRecord) => boolean;
  /** It removes data permanently, which needs its own permission. */
  readonly purge?: boolean | undefined;
}

export class Migrations {
  readonly #deps: MigrationDependencies;
  readonly #ledger: Ledger;
  readonly #registry: WorkRegistry;
  readonly #sources: AllowedSources;
  readonly #runner: MigrationRunner;
  #wake: () => void = () => {};

  constructor(deps: MigrationDependencies) {
    this.#deps = deps;
    this.#ledger = new Ledger(deps.items);
    this.#registry = new WorkRegistry({
      items: deps.items,
      system: deps.system,
      container: migrationsWork.name,
      tenant: migrationsTenant,
    });
    this.#sources = new AllowedSources(deps.sources);
    this.#runner = new MigrationRunner({
      deps,
      ledger: this.#ledger,
      registry: this.#registry,
      sources: this.#sources,
    });
  }

  async open(): Promise<this> {
    await this.#deps.items.openContainer(migrationsContainer);
    await this.#deps.items.openContainer(migrationsWork);
    return this;
  }

  /** Called whenever there is work. */
  onWake(wake: () => void): void {
    this.#wake = wake;
  }

  /** Starts with the inventory, which writes only its report. */
  async create(caller: Caller, { source, retain_days, auto = false }: NewMigration): Promise<MigrationView> {
    const scope = requireCaller(caller);
    if (caller.role !== "admin" && !isForUsers(kindOf(source))) throw adminsOnly();
    const parsed = readSpec(source);
    const { kind } = parsed;
    const retainDays = retain_days ?? migrationLimits.retainDaysDefault;
    if (!Number.isInteger(retainDays) || retainDays < 0 || retainDays > migrationLimits.retainDaysMax)
      throw invalid(
        `retain_days: must be a whole number from 0 to ${migrationLimits.retainDaysMax}, got ${show(retain_days)}.`,
      );
    const spec = await settleSpec(parsed, this.#opening(caller));
    // Opened once before anything is stored: an unreadable source is reported at once.
    await using opened = await openSource({ kind, spec }, this.#opening(caller));
    if (opened.inPlace !== undefined && retain_days !== undefined)
      throw invalid("retain_days: an old collection is kept in the trash for the retention of the trash; omit it.");
    const record = {
      ...this.#newRecord(caller, kind, spec, daysOf(await opened.inPlace?.retainMs()) ?? retainDays),
      ...(auto ? { auto, asker: askerOf(caller) } : {}),
    };
    await this.#register(scope, record.migration_id);
    await this.#ledger.create(scope, record);
    this.#wake();
    return view(record);
  }

  async get(caller: Caller, migrationId: string): Promise<MigrationView> {
    const record = await this.#visible(caller, migrationId);
    if (record.state !== "rolled_back") return view(record);
    const { items } = await this.#ledger.unitPage(caller.scope, migrationId, { limit: unitsLookedAt });
    let trash_until: string | null = null;
    for (const unit of items) {
      const until = await this.#trashedUntil(caller.scope, unit);
      if (until !== null && (trash_until === null || until > trash_until)) trash_until = until;
    }
    return { ...view(record), trash_until };
  }

  /** Newest first. */
  async list(
    caller: Caller,
    paging: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
  ): Promise<{ items: MigrationView[]; next_cursor: string | null }> {
    const page = await this.#ledger.list(requireAdmin(caller), {
      limit: pageLimit(paging.limit),
      cursor: paging.cursor,
    });
    return { items: page.items.map(view), next_cursor: page.cursor ?? null };
  }

  /** In the order of the source. */
  async units(
    caller: Caller,
    migrationId: string,
    paging: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {},
  ): Promise<{ items: UnitView[]; next_cursor: string | null }> {
    await this.#visible(caller, migrationId);
    const page = await this.#ledger.unitPage(caller.scope, migrationId, {
      limit: pageLimit(paging.limit),
      cursor: paging.cursor,
    });
    const items: UnitView[] = [];
    for (const unit of page.items) items.push(unitView(unit, await this.#trashedUntil(caller.scope, unit)));
    return { items, next_cursor: page.cursor ?? null };
  }

  /** Plans again, after problems were fixed. */
  async plan(caller: Caller, migrationId: string): Promise<MigrationView> {
    return this.#begin(caller, migrationId, "plan");
  }

  async copy(caller: Caller, migrationId: string): Promise<MigrationView> {
    return this.#begin(caller, migrationId, "copy", (record) => {
      if (record.state === "planned" && record.problem_count > 0)
        throw invalid(
          `Migration "${migrationId}" has ${record.problem_count} problems, the first: ${first(record)} Fix them in the source or the mapping, and plan again.`,
        );
      return record;
    });
  }

  async validate(caller: Caller, migrationId: string): Promise<MigrationView> {
    return this.#begin(caller, migrationId, "validate");
  }

  async cutover(caller: Caller, migrationId: string): Promise<MigrationView> {
    return this.#begin(caller, migrationId, "cutover");
  }

  /** Without `remove_old` the old form stays, managed by its owner. */
  async finish(
    caller: Caller,
    migrationId: string,
    { remove_old = false, now = false }: FinishOptions = {},
  ): Promise<MigrationView> {
    const change = (record: MigrationRecord) => {
      if (
        remove_old &&
        !now &&
        record.retain_until !== null &&
        Date.parse(record.retain_until) > this.#deps.clock.now()
      )
        throw new PinakesError(
          "CONFLICT",
          `The old form is kept until ${record.retain_until}; finish with "now" to remove it earlier.`,
        );
      return { ...record, remove_old };
    };
    return this.#begin(caller, migrationId, "finish", change, { purge: remove_old });
  }

  async rollback(
    caller: Caller,
    migrationId: string,
    { force = false }: { readonly force?: boolean | undefined } = {},
  ): Promise<MigrationView> {
    const again = ({ state, force: before }: MigrationRecord) => state === "rolling_back" && force && !before;
    return this.#begin(
      caller,
      migrationId,
      "rollback",
      (record) => ({ ...record, force, before: record.state === "rolling_back" ? record.before : record.state }),
      {
        again,
      },
    );
  }

  /** Works here until the migration waits for a request. UNAVAILABLE while another process works on it. */
  async drive(caller: Caller, migrationId: string, options: DriveOptions = {}): Promise<MigrationView> {
    await this.#visible(caller, migrationId);
    return view(await this.#runner.run(caller.scope, migrationId, options));
  }

  /** One pass over the unfinished migrations of all tenants, for the background. */
  async tick(signal: AbortSignal): Promise<void> {
    await this.#runner.tick(signal);
  }

  async #begin(
    caller: Caller,
    migrationId: string,
    step: Step,
    change: (record: MigrationRecord) => MigrationRecord = (record) => record,
    { again = () => false, purge = false }: BeginOptions = {},
  ): Promise<MigrationView> {
    const found = await this.#visible(caller, migrationId);
    await authorizeStep({ kind: found.kind, spec: found.source }, this.#opening(caller), { purge });
    const { scope } = caller;
    if (begin(step, found.state) !== undefined) await this.#register(scope, migrationId);
    const record = await this.#ledger.update(scope, migrationId, (current) => {
      const state = begin(step, current.state) ?? (again(current) ? current.state : undefined);
      if (state === undefined) return undefined;
      // The worker of the previous state loses its lease: its late writes are refused.
      const asker = current.auto === true ? { asker: askerOf(caller) } : {};
      return {
        ...change(current),
        ...asker,
        state,
        error: null,
        progress: null,
        lease_owner: null,
        lease_until: 0,
        updated_at: this.#now(),
      };
    });
    this.#wake();
    return view(record);
  }

  /** Admins see all; users see their own moves. Everyone else gets the same error, whether it exists or not. */
  async #visible(caller: Caller, migrationId: string): Promise<MigrationRecord> {
    const record = await this.#ledger.read(requireCaller(caller), migrationId);
    if (caller.role !== "admin" && (record?.created_by !== caller.userId || !isForUsers(record.kind)))
      throw adminsOnly();
    if (record === undefined) throw notFound(migrationId);
    return record;
  }

  /** Queried now: purges and restores of the collection are not reported to migrations. */
  async #trashedUntil(
    scope: Scope,
    { status, made, repository_id, incarnation, target }: UnitRecord,
  ): Promise<string | null> {
    if (status !== "rolled_back" || !made || repository_id === null || incarnation === null) return null;
    return this.#deps.intake.moves.trashedUntil(scope, {
      repository_id,
      collection_id: target.collection,
      incarnation,
    });
  }

  /** Before the record has work: otherwise no process would find it. */
  async #register(scope: Scope, migrationId: string): Promise<void> {
    await this.#registry.put({
      kind: "migration",
      tenant: scope.tenant,
      key: migrationId,
      due_at: this.#deps.clock.now(),
    });
  }

  #opening(caller: Caller) {
    return { deps: this.#deps, sources: this.#sources, caller };
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  #newRecord(caller: Caller, kind: string, spec: JsonObject, retain_days: number): MigrationRecord {
    const now = this.#now();
    return {
      id: "migration",
      migration_id: this.#deps.newId(),
      format: 1,
      kind,
      source: spec as MigrationRecord["source"],
      state: "planning",
      problems: [],
      problem_count: 0,
      unit_count: 0,
      row_count: 0,
      progress: null,
      error: null,
      retain_days,
      remove_old: false,
      force: false,
      created_by: caller.userId,
      created_at: now,
      updated_at: now,
      switched_at: null,
      retain_until: null,
      finished_at: null,
      lease_owner: null,
      lease_until: 0,
    };
  }
}

function requireAdmin(caller: Caller): Scope {
  const scope = requireCaller(caller);
  if (caller.role !== "admin") throw adminsOnly();
  return scope;
}

function adminsOnly(): PinakesError {
  return new PinakesError("FORBIDDEN", "Migrations need the role admin.");
}

function askerOf({ userId, role, groups }: Caller): NonNullable<MigrationRecord["asker"]> {
  return { user_id: userId, role, groups: [...groups] };
}

function daysOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.ceil(ms / 86_400_000);
}

function kindOf(source: unknown): unknown {
  return typeof source === "object" && source !== null && "kind" in source ? source.kind : undefined;
}

function notFound(migrationId: string): PinakesError {
  return new PinakesError("NOT_FOUND", `There is no migration "${migrationId}".`);
}

function pageLimit(limit = 20): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= migrationLimits.pageItemsMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${migrationLimits.pageItemsMax}, got ${show(limit)}.`);
}

function first({ problems }: MigrationRecord): string {
  const [problem] = problems;
  return problem === undefined ? "" : `${problem.where}: ${problem.reason}`;
}
