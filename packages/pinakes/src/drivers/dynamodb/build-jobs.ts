/** The records of index builds in the meta table: who works on a container, the progress, the error. */
import type { Attributes, Dynamo } from "./client.ts";
import { errorName } from "./errors.ts";
import type { BuildState } from "./index-state.ts";

export interface BuildJob {
  readonly version: number;
  /** prepare: indexes are created, writers learn of them. fill: existing items are added to them. */
  readonly phase: "prepare" | "fill";
  readonly done: number;
  readonly total: number;
  /** Where the walk through the table continues. */
  readonly at?: Attributes;
}

/** Between two saves lies one page of items, or the creation of one index; exceeding it only means that work is done twice. */
const leaseMs = 30_000;

export class BuildJobs {
  readonly #dynamo: Dynamo;
  readonly #meta: string;
  readonly #owner: string;

  constructor(dynamo: Dynamo, meta: string, owner: string) {
    this.#dynamo = dynamo;
    this.#meta = meta;
    this.#owner = owner;
  }

  /** The job in its last state, or a new one for another version; undefined while another process holds it. */
  async take(name: string, version: number): Promise<BuildJob | undefined> {
    const left = await this.#job(name);
    const job: BuildJob = left?.version === version ? left : { version, phase: "prepare", done: 0, total: 0 };
    return (await this.save(name, job)) ? job : undefined;
  }

  /** Also renews the lease. False if another process holds it. Leases are in real time: the clock of the store may be moved. */
  async save(name: string, job: BuildJob): Promise<boolean> {
    const now = Date.now();
    return this.#put(name, { job: { S: JSON.stringify(job) }, until: { N: String(now + leaseMs) } }, now);
  }

  /** Records an error and lets the next process begin at once. False if the job is for another version, or belongs to another process. */
  async fail(name: string, version: number, error: unknown): Promise<boolean> {
    const job = await this.#job(name);
    if (job?.version !== version) return false;
    return this.#put(
      name,
      {
        job: { S: JSON.stringify(job) },
        until: { N: "0" },
        error: { S: error instanceof Error ? error.message : String(error) },
      },
      Date.now(),
    );
  }

  /** Lets another process continue. The progress is kept unless the container is settled, when it is no longer needed. */
  async release(name: string): Promise<void> {
    try {
      await this.#dynamo.repeat("release an index build", (api) =>
        api.updateItem({
          TableName: this.#meta,
          Key: key(name),
          UpdateExpression: "SET #u = :zero",
          ConditionExpression: "#o = :o",
          ExpressionAttributeNames: { "#u": "until", "#o": "owner" },
          ExpressionAttributeValues: { ":zero": { N: "0" }, ":o": { S: this.#owner } },
        }),
      );
    } catch (error) {
      if (errorName(error) !== "ConditionalCheckFailedException") throw error;
    }
  }

  async state(name: string, version: number): Promise<BuildState> {
    const item = await this.#read(name);
    const job = parseJob(item);
    if (job?.version !== version) return { progress: 0, error: undefined };
    // The total is the service's estimate, so the end is known only when it is reached.
    const progress = job.phase === "prepare" ? 0 : Math.min(0.99, job.done / Math.max(job.total, job.done, 1));
    return { progress, error: item?.["error"]?.S };
  }

  async #job(name: string): Promise<BuildJob | undefined> {
    return parseJob(await this.#read(name));
  }

  async #read(name: string): Promise<Attributes | undefined> {
    const { Item } = await this.#dynamo.repeat("read an index build", (api) =>
      api.getItem({ TableName: this.#meta, Key: key(name), ConsistentRead: true }),
    );
    return Item;
  }

  async #put(name: string, attributes: Attributes, now: number): Promise<boolean> {
    try {
      await this.#dynamo.repeat("save an index build", (api) =>
        api.putItem({
          TableName: this.#meta,
          Item: { ...key(name), owner: { S: this.#owner }, ...attributes },
          ConditionExpression: "attribute_not_exists(pk) OR #u < :now OR #o = :o",
          ExpressionAttributeNames: { "#u": "until", "#o": "owner" },
          ExpressionAttributeValues: { ":now": { N: String(now) }, ":o": { S: this.#owner } },
        }),
      );
      return true;
    } catch (error) {
      if (errorName(error) === "ConditionalCheckFailedException") return false;
      throw error;
    }
  }
}

function key(name: string): Attributes {
  return { pk: { S: `build#${name}` } };
}

function parseJob(item: Attributes | undefined): BuildJob | undefined {
  return item?.["job"]?.S === undefined ? undefined : (JSON.parse(item["job"].S) as BuildJob);
}
