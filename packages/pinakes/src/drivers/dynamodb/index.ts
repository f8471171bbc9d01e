import { invalid } from "../../domain/errors.ts";
import { createItemStore } from "../../items/create-item-store.ts";
import { systemClock, type Clock } from "../../ports/clock.ts";
import type { ItemStore } from "../../ports/item-store.ts";
import { connect, requestMsMax } from "./client.ts";
import { DynamoItemEngine } from "./engine.ts";
import { checkPrefix, describeTable, metaTable } from "./schema.ts";
import type { SpillOptions } from "./spill.ts";
import type { ConnectionOptions } from "../../runtime/aws-connection.ts";

export interface DynamoItemsOptions extends ConnectionOptions {
  /** Tables are named `<prefix>.<container>`. */
  readonly prefix?: string | undefined;
  /** Where documents are stored that are too large for an item (400 KB), and their scope. Without it they are rejected. */
  readonly objects?: SpillOptions | undefined;
  readonly clock?: Clock | undefined;
  /**
   * Maximum age of a process's cached definition. A new index, and a feed that is switched on, wait that long plus `inFlightMsMax`, or
   * twice that long.
   */
  readonly definitionMaxAgeMs?: number | undefined;
  /** How long a query waits for its session token. */
  readonly indexWaitMsMax?: number | undefined;
  /**
   * How long after it was sent a request may still take effect. Only tests lower it, because their requests are never in flight for long.
   */
  readonly inFlightMsMax?: number | undefined;
}

/**
 * Items in DynamoDB.
 *
 * @example
 * const items = await openDynamoItems({ region: "eu-central-1", prefix: "my-app", objects: { store, scope: system } });
 */
export async function openDynamoItems(options: DynamoItemsOptions): Promise<ItemStore> {
  return createItemStore(
    await connectDynamoEngine(options),
    options.clock === undefined ? {} : { clock: options.clock },
  );
}

/** The engine below the store, for features that only it has (`sweepSpills`). */
export async function connectDynamoEngine(options: DynamoItemsOptions): Promise<DynamoItemEngine> {
  const {
    region,
    endpoint,
    credentials,
    objects,
    prefix = "pinakes",
    clock = systemClock,
    definitionMaxAgeMs = 10_000,
    indexWaitMsMax = 5_000,
    inFlightMsMax = 2 * requestMsMax,
  } = options;
  if (typeof region !== "string" || region === "") throw invalid("region: name the AWS region of the tables.");
  if (!(definitionMaxAgeMs >= 1)) throw invalid(`definitionMaxAgeMs: must be at least 1, got ${definitionMaxAgeMs}.`);
  if (!(indexWaitMsMax >= 0)) throw invalid(`indexWaitMsMax: must be at least 0, got ${indexWaitMsMax}.`);
  if (!(inFlightMsMax >= 0)) throw invalid(`inFlightMsMax: must be at least 0, got ${inFlightMsMax}.`);
  const dynamo = await connect({ region, endpoint, credentials });
  return new DynamoItemEngine({
    dynamo,
    prefix: checkPrefix(prefix),
    clock,
    objects,
    definitionMaxAgeMs,
    indexWaitMsMax,
    inFlightMsMax,
  });
}

/** Whether there are items under this prefix; creates nothing. */
export async function hasDynamoItems({
  region,
  endpoint,
  prefix,
}: {
  readonly region: string;
  readonly endpoint?: string;
  readonly prefix: string;
}): Promise<boolean> {
  const dynamo = await connect({ region, endpoint });
  try {
    return (await describeTable(dynamo, metaTable(checkPrefix(prefix)))) !== undefined;
  } finally {
    dynamo.close();
  }
}
