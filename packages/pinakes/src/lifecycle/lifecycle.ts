/**
 * Deletes and archives collections in every store that holds their data (RFC 0007). Waiting for an operation also drives it: `drive` serves
 * the topics of this process's stores, so nothing depends on background work.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { invalid } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import type { Scope, SystemScope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import type { ItemStore, Operation as ItemOperation } from "../ports/item-store.ts";
import type { Queue } from "../ports/queue.ts";
import type { Catalogue } from "./catalogue.ts";
import { Consumer } from "./consumer.ts";
import { Coordinator, type NewOperation } from "./coordinator.ts";
import { Handler } from "./handler.ts";
import { lifecycleLimits } from "./limits.ts";
import {
  isMatched,
  Malformed,
  readReply,
  readRequest,
  type ManagementReply,
  type ManagementRequest,
  type PlainReply,
} from "./messages.ts";
import { newMetrics, type LifecycleMetrics } from "./metrics.ts";
import { isConfirmed, nextDue, type Operation } from "./operation.ts";
import { Operations, type StoredOperation } from "./operations.ts";
import type { Incarnation, Participant } from "./participant.ts";
import { Participants, participantsContainer } from "./participants.ts";
import { Reconciler, type Orphan, type ReconciledPage } from "./reconcile.ts";
import { Topics, type StoreClass } from "./topics.ts";

/** No caller can have this tenant: `tenantScope` refuses names with this prefix. */
export const lifecycleTenant = "pinakes.lifecycle";
const waitMs = 20_000;
const lookMs = 50;
/** Operations that this process remembers to resume; the registry has all of them. */
const soonMax = 10_000;

export interface LifecycleOptions {
  readonly items: ItemStore;
  readonly queue: Queue;
  readonly system: SystemScope;
  readonly clock: Clock;
  readonly catalogue: Catalogue;
  /** The stores of this process. */
  readonly stores: readonly Participant[];
  /** Name of this process in leases. */
  readonly owner: string;
  readonly topicPrefix?: string | undefined;
  readonly log: (line: string) => void;
}

export class Lifecycle {
  readonly metrics: LifecycleMetrics = newMetrics();
  readonly topics: Topics;
  /** The stores of all processes. */
  readonly participants: Participants;
  readonly #options: LifecycleOptions;
  readonly #scope: Scope;
  readonly #operations: Operations;
  readonly #coordinator: Coordinator;
  readonly #handler: Handler;
  readonly #consumer: Consumer;
  readonly #reconciler: Reconciler;
  readonly #stopping = new AbortController();
  readonly #soon = new Map<string, { readonly scope: Scope; readonly incarnation: Incarnation; readonly at: number }>();
  readonly #driving = new Set<Promise<void>>();
  #listening = false;
  #pumping: Promise<void> | undefined;
  #again = false;

  constructor(options: LifecycleOptions) {
    const { items, queue, system, clock, catalogue, owner } = options;
    this.#options = options;
    this.topics = new Topics(options.topicPrefix);
    this.#scope = system.forTenant(lifecycleTenant);
    this.participants = new Participants(items, this.#scope, this.topics);
    this.#operations = new Operations(items, catalogue);
    this.#handler = new Handler({ system, clock, catalogue, operations: this.#operations });
    this.#consumer = new Consumer(queue, this.#scope, owner, () => void (this.metrics.malformed += 1));
    this.#reconciler = new Reconciler({ items, scope: this.#scope, clock, catalogue, stores: options.stores });
    this.#coordinator = new Coordinator({
      queue,
      scope: this.#scope,
      clock,
      catalogue,
      operations: this.#operations,
      participants: this.participants,
      local: options.stores,
      metrics: this.metrics,
    });
  }

  async open(): Promise<this> {
    await this.#options.items.openContainer(participantsContainer);
    const known = await this.participants.list();
    for (const { store, class: storeClass, capabilities } of this.#options.stores) {
      const same = known.find((one) => one.store === store);
      if (
        same === undefined ||
        JSON.stringify(same.capabilities) !== JSON.stringify(capabilities) ||
        same.topic !== this.topics.of(storeClass, store)
      )
        await this.participants.register({ store, class: storeClass, capabilities });
    }
    return this;
  }

  /**
   * A message of another program, as it is, to the queues of all stores of a class; returns their names. Only what the catalog has marked as
   * deleted is removed, whoever sends it.
   */
  async submit(storeClass: StoreClass, message: JsonObject): Promise<readonly string[]> {
    let request: ManagementRequest;
    try {
      request = readRequest(message);
    } catch (error) {
      throw error instanceof Malformed ? invalid(error.message, { cause: error }) : error;
    }
    if (request.operation_id !== undefined)
      throw invalid("operation_id: requests of this server are not accepted from other programs.");
    const stores = (await this.participants.list()).filter((one) => one.class === storeClass);
    for (const { topic } of stores)
      await this.#options.queue.send(this.#scope, topic, { body: message, group: request.collection });
    return stores.map(({ topic }) => topic);
  }

  /** With the currently registered stores; CONFLICT if one of them cannot do it. Writes nothing. */
  async plan(input: NewOperation): Promise<Operation> {
    return this.#coordinator.plan(input);
  }

  /** Commits the operation in one batch with the caller's changes; from here on it only goes forward. */
  async begin(
    scope: Scope,
    operation: Operation,
    beside: readonly ItemOperation[],
    earlier?: StoredOperation,
  ): Promise<void> {
    await this.#coordinator.begin(scope, operation, beside, earlier?.etag);
  }

  async read(
    scope: Scope,
    incarnation: Pick<Incarnation, "repository_id" | "incarnation">,
  ): Promise<StoredOperation | undefined> {
    return this.#operations.read(scope, incarnation);
  }

  /** As far as possible now, including pending messages of this process's stores. */
  async drive(scope: Scope, incarnation: Incarnation): Promise<Operation | undefined> {
    await this.#carry(scope, incarnation);
    await this.pump();
    return this.#asItIs(scope, incarnation);
  }

  /** Like `drive`, but if the topics are served in the background, waits a while for the handlers. */
  async finish(scope: Scope, incarnation: Incarnation): Promise<Operation | undefined> {
    let operation = await this.drive(scope, incarnation);
    const until = performance.now() + lifecycleLimits.handleMsMax;
    while (this.#listening && operation !== undefined && operation.status !== "done" && performance.now() < until) {
      if (!operation.stores.some(({ status }) => status === "sent") && !isConfirmed(operation)) return operation;
      await sleep(lookMs);
      operation = (await this.#operations.read(scope, incarnation))?.operation;
    }
    return operation;
  }

  /** Like `drive` without waiting; `close` waits for it. */
  driveSoon(scope: Scope, incarnation: Incarnation): void {
    const driving = this.drive(scope, incarnation)
      .then(
        () => {},
        (error: unknown) =>
          this.#options.log(
            `operation on ${incarnation.incarnation}: ${error instanceof Error ? error.message : String(error)}`,
          ),
      )
      .finally(() => this.#driving.delete(driving));
    this.#driving.add(driving);
  }

  /** Resolves when everything this process drives is as far as possible now. */
  async idle(): Promise<void> {
    while (this.#driving.size > 0) await Promise.all(this.#driving);
  }

  /** For the sweep: like `drive`, unless the topics are served in the background anyway. */
  async carryOn(scope: Scope, incarnation: Incarnation): Promise<Operation | undefined> {
    if (!this.#listening) return this.drive(scope, incarnation);
    await this.#carry(scope, incarnation);
    return this.#asItIs(scope, incarnation);
  }

  async retry(scope: Scope, incarnation: Incarnation): Promise<Operation> {
    return this.#coordinator.retry(scope, incarnation);
  }

  /** Processes the pending messages of the topics: one round at a time, and another one if requested meanwhile. */
  async pump(): Promise<void> {
    this.#again = true;
    this.#pumping ??= this.#pump().finally(() => (this.#pumping = undefined));
    await this.#pumping;
  }

  /** Background: serves the stores of this process and applies replies, until the signal. */
  async listen(signal: AbortSignal, succeeded: () => void = () => {}): Promise<void> {
    const stop = AbortSignal.any([signal, this.#stopping.signal]);
    const failed = new AbortController();
    const either = AbortSignal.any([stop, failed.signal]);
    // A loop that keeps failing must not be hidden by the others.
    const well = new Set<object>();
    const loop = async (take: (waitMs: number, signal: AbortSignal) => Promise<number>): Promise<void> => {
      try {
        while (!either.aborted) {
          await take(waitMs, either);
          if (well.add(take).size === this.#options.stores.length + 1) succeeded();
        }
      } catch (error) {
        failed.abort();
        if (!stop.aborted) throw error;
      }
    };
    this.#listening = true;
    const loops = this.#options.stores.map((store) => loop((wait, until) => this.#serveOnce(store, wait, until)));
    const ends = await Promise.allSettled([...loops, loop((wait, until) => this.#repliesOnce(wait, until))]);
    this.#listening = false;
    for (const end of ends)
      if (end.status === "rejected") throw end.reason instanceof Error ? end.reason : new Error(String(end.reason));
  }

  /** Background: resumes operations that are due, without reading any store if none is. */
  async tick(signal: AbortSignal): Promise<void> {
    const now = this.#options.clock.now();
    for (const [key, { scope, incarnation, at }] of this.#soon) {
      if (at > now || signal.aborted) continue;
      this.#soon.delete(key);
      await this.drive(scope, incarnation);
    }
  }

  /** Serves a store besides those passed to `open`: registers it, then answers its topic until the signal. */
  async serve(participant: Participant, signal: AbortSignal): Promise<void> {
    const { store, class: storeClass, capabilities } = participant;
    await this.participants.register({ store, class: storeClass, capabilities });
    const stop = AbortSignal.any([signal, this.#stopping.signal]);
    try {
      while (!stop.aborted) await this.#serveOnce(participant, waitMs, stop);
    } catch (error) {
      if (!stop.aborted) throw error;
    }
  }

  /** One bounded round over the data of a tenant in the stores of this process. */
  async reconcile(scope: Scope, options: { readonly remove?: boolean } = {}): Promise<readonly Orphan[]> {
    const orphans = await this.#reconciler.round(scope, options);
    this.metrics.orphansRemoved += orphans.filter(({ removed }) => removed).length;
    return orphans;
  }

  /** The stores of this process that can list their contents. */
  get listing(): readonly string[] {
    return this.#options.stores.filter(({ capabilities }) => capabilities.list).map(({ store }) => store);
  }

  /** One page of a tenant's data in a store of this process; the caller keeps the cursor. */
  async reconcilePage(
    scope: Scope,
    {
      store,
      cursor,
      remove,
    }: { readonly store: string; readonly cursor?: string | undefined; readonly remove: boolean },
  ): Promise<ReconciledPage> {
    const participant = this.#options.stores.find((one) => one.store === store);
    // A store that no longer exists in this process.
    if (participant === undefined) return { orphans: [], incarnations: 0, cursor: undefined };
    const page = await this.#reconciler.page(scope, participant, { cursor, remove });
    this.metrics.orphansRemoved += page.orphans.filter(({ removed }) => removed).length;
    return page;
  }

  /** Data of collections that no record names, quarantined in place (RFC 0016). */
  get quarantine(): Pick<Reconciler, "held" | "heldOne" | "release" | "drop"> {
    return this.#reconciler;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled([...this.#driving, this.#pumping]);
  }

  async #carry(scope: Scope, incarnation: Incarnation): Promise<void> {
    const operation = await this.#coordinator.carry(scope, incarnation);
    const key = `${scope.tenant}/${incarnation.incarnation}`;
    if (operation === undefined || operation.status === "done") this.#soon.delete(key);
    else if (this.#soon.size < soonMax || this.#soon.has(key))
      this.#soon.set(key, { scope, incarnation, at: nextDue(operation) });
  }

  /**
   * The process that completed it may have failed before notifying; the caller assumes that the notification of a done operation was sent.
   */
  async #asItIs(scope: Scope, incarnation: Incarnation): Promise<Operation | undefined> {
    const operation = (await this.#operations.read(scope, incarnation))?.operation;
    if (operation !== undefined && operation.status !== "running")
      await this.#options.catalogue.statusChanged(scope, operation);
    return operation;
  }

  async #pump(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#again && !signal.aborted) {
      this.#again = false;
      const served = await Promise.all(this.#options.stores.map((store) => this.#serveOnce(store, 0, signal)));
      const replies = await this.#repliesOnce(0, signal);
      if (replies + served.reduce((sum, one) => sum + one, 0) > 0) this.#again = true;
    }
  }

  async #serveOnce(participant: Participant, wait: number, signal: AbortSignal): Promise<number> {
    const { class: storeClass, store } = participant;
    return this.#consumer.take({
      topic: this.topics.of(storeClass, store),
      waitMs: wait,
      signal,
      handle: async (body, stop) => {
        for (const reply of await this.#handler.handle(participant, body, stop)) await this.#reply(reply);
        this.metrics.handled += 1;
      },
      alive: async (body) => {
        const reply = this.#handler.working(body);
        if (reply !== undefined) await this.#reply(reply);
      },
    });
  }

  async #repliesOnce(wait: number, signal: AbortSignal): Promise<number> {
    return this.#consumer.take({
      topic: this.topics.replies,
      waitMs: wait,
      signal,
      handle: (body) => this.#heard(body),
    });
  }

  async #heard(body: JsonValue): Promise<void> {
    // A reply to a message from LISA without matching incarnations: it is for the sender of that message.
    if (!isMatched(body)) {
      this.metrics.dropped += 1;
      return;
    }
    const reply = readReply(body);
    const scope = this.#options.system.forTenant(reply.workspace_id);
    const incarnation = await this.#coordinator.answer(scope, reply);
    if (incarnation !== undefined) await this.#carry(scope, incarnation);
  }

  async #reply(reply: ManagementReply | PlainReply): Promise<void> {
    const group = "incarnation" in reply ? reply.incarnation : reply.collection;
    await this.#options.queue.send(this.#scope, this.topics.replies, {
      body: { ...reply } as unknown as JsonValue,
      group,
    });
  }
}
