/**
 * How long a workspace keeps what (R-AGT-63): default times to live of containers, the trash, and what the operator's settings govern.
 *
 * A change that shortens a lifetime needs the confirmation of a preview, which counts what would expire. It deletes nothing itself: what
 * has expired cannot be read from then on, and the sweep removes it in bounded steps. Legal holds win over every lifetime.
 */
import { type RetentionChange, type RetentionPreview, type RetentionRule } from "@pinakes/client";
import { requireCaller, type Caller } from "../../domain/caller.ts";
import { PinakesError, invalid, show } from "../../domain/errors.ts";
import type { Scope, SystemScope } from "../../domain/scope.ts";
import { expiresAt, isTtlSeconds } from "../../domain/ttl.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { companionField, type Containers, systemContainerTtls } from "../../state/index.ts";
import { requireAdmin, type Holds } from "../holds/holds.ts";
import { governanceLimits } from "../limits.ts";
import type { RetentionStore } from "./retention-store.ts";

/** What an operator's setting governs, for all workspaces. */
export interface GovernedLifetime {
  readonly name: string;
  readonly seconds: number;
  readonly default_seconds: number;
  readonly unit: string;
  readonly setting: string;
}

export interface RetentionDependencies {
  readonly items: ItemStore;
  readonly clock: Clock;
  readonly system: SystemScope;
  readonly containers: Pick<Containers, "get" | "list" | "put" | "setDefaultTtl" | "storedName">;
  readonly store: RetentionStore;
  /** Of workspaces without their own. */
  readonly trash: { readonly seconds: number; readonly defaultSeconds: number };
  readonly settings: readonly GovernedLifetime[];
  readonly holds: Holds;
}

const trashName = "trash";
const daySeconds = 86_400;
const examplesMax = 10;
const systemUnits: Readonly<Record<string, string>> = {
  "workflow-states": "workflow with its checkpoints",
  "agent-memories": "memory, or session where it has its own ttl",
};

export class Retention {
  readonly #deps: RetentionDependencies;

  constructor(deps: RetentionDependencies) {
    this.#deps = deps;
  }

  async list(caller: Caller): Promise<readonly RetentionRule[]> {
    const scope = requireCaller(caller);
    const { items } = await this.#deps.containers.list(caller);
    const containers = items.map((info) => this.#containerRule(info));
    return [...containers, await this.#trashRule(scope), ...this.#deps.settings.map(settingRule)];
  }

  async get(caller: Caller, name: string): Promise<RetentionRule> {
    const scope = requireCaller(caller);
    if (name === trashName) return this.#trashRule(scope);
    const governed = this.#deps.settings.find((one) => one.name === name);
    return governed === undefined
      ? this.#containerRule(await this.#deps.containers.get(caller, name))
      : settingRule(governed);
  }

  async preview(caller: Caller, name: string, seconds: number | null): Promise<RetentionPreview> {
    const scope = requireAdmin(caller);
    const rule = await this.#changeable(caller, name);
    checkSeconds(rule, seconds);
    const counts = rule.kind === "trash" ? noCounts : await this.#count(caller, name, rule.seconds, seconds);
    const confirmation = await this.#deps.store.keepPreview(scope, { name, seconds });
    return { name, seconds, current_seconds: rule.seconds, ...counts, confirmation };
  }

  async set(caller: Caller, name: string, { seconds, confirmation }: RetentionChange): Promise<RetentionRule> {
    const scope = requireAdmin(caller);
    const rule = await this.#changeable(caller, name);
    checkSeconds(rule, seconds);
    if (lifetimeOf(seconds) < lifetimeOf(rule.seconds)) await this.#requirePreview(scope, name, seconds, confirmation);
    if (rule.kind === "trash") await this.#deps.store.setTrash(scope, seconds as number);
    else await this.#setContainer(caller, name, seconds);
    return this.get(caller, name);
  }

  async #setContainer(caller: Caller, name: string, seconds: number | null): Promise<void> {
    const { containers } = this.#deps;
    const info = await containers.get(caller, name);
    if (info.kind === "system") return void (await containers.setDefaultTtl(caller, name, seconds));
    const { partition_key, indexes, indexing_policy, unique_keys, strict, optional_key, etag } = info;
    const spec = {
      partition_key,
      indexes,
      ...(indexing_policy === null ? {} : { indexing_policy }),
      unique_keys,
      strict,
      optional_key,
      default_ttl: seconds,
    };
    await containers.put(caller, name, spec, { ifMatch: etag });
  }

  async #changeable(caller: Caller, name: string): Promise<RetentionRule> {
    const rule = await this.get(caller, name);
    if (rule.changeable) return rule;
    throw new PinakesError(
      "NOT_SUPPORTED",
      rule.setting === null
        ? `Documents of "${name}" never expire, so its lifetime cannot be changed.`
        : `The operator sets the lifetime of "${name}" with ${rule.setting}.`,
    );
  }

  async #requirePreview(
    scope: Scope,
    name: string,
    seconds: number | null,
    confirmation: string | undefined,
  ): Promise<void> {
    if (confirmation !== undefined && (await this.#deps.store.previewed(scope, confirmation, { name, seconds })))
      return;
    throw new PinakesError(
      "CONFLICT",
      "confirmation: a shorter lifetime may expire documents at once; preview this change, and send the confirmation of that preview within an hour.",
    );
  }

  async #count(caller: Caller, name: string, current: number | null, next: number | null) {
    const { items, holds, system, clock } = this.#deps;
    const { tenant } = caller.scope;
    const inForce = await holds.inForce(tenant);
    const own = system.forTenant(tenant);
    const container = await this.#deps.containers.storedName(caller, name);
    const now = clock.now();
    const examples: string[] = [];
    let [wouldExpire, held, wouldStay] = [0, 0, 0];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await items.erasure.walk(own, container, { cursor });
      for (const { id, modifiedAt, document } of page.rows) {
        const { ttl } = document;
        const itemTtl = typeof ttl === "number" ? ttl : null;
        const gone = (seconds: number | null) => (expiresAt(seconds, itemTtl, modifiedAt) ?? Infinity) <= now;
        if (document[companionField] !== undefined || gone(current)) continue;
        if (!gone(next)) {
          if (itemTtl === null) wouldStay += 1;
          continue;
        }
        wouldExpire += 1;
        if (inForce.some((hold) => hold.matches({ container, document }))) held += 1;
        if (examples.length < examplesMax) examples.push(id);
      }
      ({ cursor } = page);
    }
    return { would_expire: wouldExpire, held, would_stay: wouldStay, examples };
  }

  #containerRule({
    name,
    kind,
    default_ttl,
  }: {
    name: string;
    kind: string;
    default_ttl: number | null;
  }): RetentionRule {
    const declared = kind === "system" ? (systemContainerTtls.get(name) ?? null) : default_ttl;
    return {
      name,
      kind: "container",
      seconds: default_ttl,
      default_seconds: declared,
      unit: systemUnits[name] ?? "document",
      changeable: kind !== "system" || declared !== null,
      setting: null,
    };
  }

  async #trashRule(scope: Scope): Promise<RetentionRule> {
    const { store, trash } = this.#deps;
    return {
      name: trashName,
      kind: "trash",
      seconds: (await store.trashSeconds(scope)) ?? trash.seconds,
      default_seconds: trash.defaultSeconds,
      unit: "collection with everything in it",
      changeable: true,
      setting: "PINAKES_TRASH_DAYS",
    };
  }
}

const noCounts = { would_expire: 0, held: 0, would_stay: 0, examples: [] } as const;

function settingRule(governed: GovernedLifetime): RetentionRule {
  return { ...governed, kind: "setting", changeable: false };
}

/** Null and -1 keep documents without a `ttl` of their own for ever; null keeps the others, too. */
function lifetimeOf(seconds: number | null): number {
  if (seconds === null) return Infinity;
  return seconds === -1 ? Number.MAX_SAFE_INTEGER : seconds;
}

function checkSeconds({ kind }: RetentionRule, seconds: number | null): void {
  if (kind === "trash") {
    const max = governanceLimits.trashDaysMax * daySeconds;
    if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < 0 || seconds > max)
      throw invalid(`seconds: of the trash, a whole number from 0 (no trash) to ${max}, got ${show(seconds)}.`);
    return;
  }
  if (seconds !== null && !isTtlSeconds(seconds))
    throw invalid(
      `seconds: must be null (never), -1 (only documents with a ttl) or a whole number from 1, got ${show(seconds)}.`,
    );
}
