/**
 * Idempotency keys in an item store, under the tenant of the caller, one partition per key.
 *
 * Invariants
 * - a claim is acquired by creating its item, or by replacing one whose lease has expired, conditional on its etag: only one process
 *   succeeds;
 * - the lease is the etag: a process that lost the claim can neither finish nor renew it.
 */
import { z } from "zod";
import { defineContainer, type Container } from "../../containers/index.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { idempotencyLimits, type Begun, type Claim, type IdempotencyStore, type StoredAnswer } from "./idempotency.ts";
import type { Scope } from "../../domain/scope.ts";
import { isConflict } from "../../runtime/expected-errors.ts";

const StoredAnswerSchema = z.strictObject({
  status: z.number().int(),
  headers: z.record(z.string(), z.string()),
  etag: z.string().optional(),
  contentType: z.string().optional(),
  body: z.string().nullable(),
  tooLarge: z.boolean(),
});

const KeyRecord = z.strictObject({
  id: z.string(),
  claim: z.string(),
  fingerprint: z.string(),
  /** Epoch milliseconds. */
  lease_until: z.number(),
  answer: StoredAnswerSchema.optional(),
});

const container = defineContainer({
  name: "http-idempotency",
  partitionKey: ["claim"],
  schema: KeyRecord,
  ttl: idempotencyLimits.keptSeconds,
});
const attemptsMax = 5;

type Records = Container<z.output<typeof KeyRecord>, z.input<typeof KeyRecord>, "claim", {}>;

export async function openIdempotencyStore(
  items: ItemStore,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): Promise<IdempotencyStore> {
  const records: Records = await container.open(items);
  return new ItemIdempotencyStore(records, clock);
}

class ItemIdempotencyStore implements IdempotencyStore {
  readonly #records: Records;
  readonly #clock: Clock;

  constructor(records: Records, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  async begin(scope: Scope, claim: Claim): Promise<Begun> {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const found = await this.#records.read(scope, { claim: claim.id, id: claim.id });
      try {
        if (found === undefined)
          return { state: "new", lease: (await this.#records.create(scope, this.#record(claim)))._etag };
        if (found.fingerprint !== claim.fingerprint) return { state: "other" };
        if (found.answer !== undefined) return { state: "done", answer: found.answer };
        const left = found.lease_until - this.#clock.now();
        if (left > 0) return { state: "running", retryAfterMs: left };
        return { state: "new", lease: await this.renew(scope, claim, found._etag) };
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
    return { state: "running", retryAfterMs: 1_000 };
  }

  async renew(scope: Scope, claim: Claim, lease: string): Promise<string> {
    return (await this.#records.replace(scope, this.#record(claim), { ifMatch: lease }))._etag;
  }

  async finish(scope: Scope, claim: Claim, lease: string, answer: StoredAnswer): Promise<void> {
    await this.#records.replace(scope, { ...this.#record(claim), answer }, { ifMatch: lease });
  }

  async abandon(scope: Scope, claim: Claim, lease: string): Promise<void> {
    await this.#records.delete(scope, { claim: claim.id, id: claim.id }, { ifMatch: lease });
  }

  #record({ id, fingerprint }: Claim): z.input<typeof KeyRecord> {
    return { id, claim: id, fingerprint, lease_until: this.#clock.now() + idempotencyLimits.leaseMs };
  }
}
