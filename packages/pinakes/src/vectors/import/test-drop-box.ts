/** For tests: a drop-box with isolated stores, a manual clock, and a bucket that fails on request. */
import type { JsonValue } from "../../domain/json.ts";
import type { Scope } from "../../domain/scope.ts";
import { ObjectFaults } from "../../drivers/memory-objects/faults.ts";
import { openMemoryObjects } from "../../drivers/memory-objects/index.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import type { DeadLetter, Queue } from "../../ports/queue.ts";
import { openItemQueue } from "../../queues/item-queue/index.ts";
import { ManualClock } from "../../testing/item-store/fixture.ts";
import type { Vectors } from "../vectors.ts";
import {
  dropBoxQueue,
  processDropBox,
  type DropBoxOptions,
  type DropBoxDependencies,
  type DropBoxRound,
} from "./drop-box.ts";
import { acme, allRows, ndjson, openProcess, openStores, type PlainRow } from "./test-support.ts";

export const row = (id: string, text = id, vector = [1, 2]) => ({ id, vector, text });

/** Has the collections papers and notes. */
export class Box implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly faults: ObjectFaults;
  readonly objects: ObjectStore;
  readonly queue: Queue;
  readonly vectors: Vectors;
  readonly logged: string[] = [];
  readonly #stack: AsyncDisposableStack;

  private constructor(
    parts: Pick<Box, "clock" | "faults" | "objects" | "queue" | "vectors">,
    stack: AsyncDisposableStack,
  ) {
    ({
      clock: this.clock,
      faults: this.faults,
      objects: this.objects,
      queue: this.queue,
      vectors: this.vectors,
    } = parts);
    this.#stack = stack;
  }

  static async open(engine: "memory" | "sqlite"): Promise<Box> {
    const stack = new AsyncDisposableStack();
    const clock = new ManualClock();
    const { items } = stack.use(await openStores(engine, clock));
    const faults = new ObjectFaults();
    const objects = stack.use(openMemoryObjects({ clock, faults }));
    const queue = stack.use(await openItemQueue({ items, clock, pollMsMax: 20 }));
    const { vectors } = stack.use(await openProcess({ items, objects }, clock));
    for (const name of ["papers", "notes"]) await vectors.create(acme, name, { dims: 2 });
    return new Box({ clock, faults, objects, queue, vectors }, stack);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async put(key: string, rows: readonly object[]): Promise<void> {
    await this.objects.put(acme, key, ndjson(rows));
  }

  async send(body: JsonValue, group = "papers"): Promise<void> {
    await this.queue.send(acme, dropBoxQueue, { group, body });
  }

  round(
    options: Partial<DropBoxOptions> = {},
    scope: Scope = acme,
    queue: DropBoxDependencies["queue"] = this.queue,
  ): Promise<DropBoxRound> {
    const { vectors, objects } = this;
    return processDropBox({ vectors, objects, queue, log: (line) => this.logged.push(line) }, scope, {
      owner: "worker",
      ...options,
    });
  }

  /** Rounds until nothing remains, with the time of retries passing in between. */
  async drain(options: Partial<DropBoxOptions> = {}): Promise<void> {
    for (let rounds = 0; rounds < 50; rounds += 1) {
      await this.round(options);
      const { ready, delayed, inFlight } = await this.queue.stats(acme, dropBoxQueue);
      if (ready + delayed + inFlight === 0) return;
      this.clock.advance(60_000);
    }
    throw new Error("the drop-box is never empty");
  }

  async dead(): Promise<DeadLetter[]> {
    const { letters } = await this.queue.dead.list(acme, dropBoxQueue);
    return Promise.all(
      letters.map(async (letter) => (await this.queue.dead.inspect(acme, dropBoxQueue, letter)) as DeadLetter),
    );
  }

  async texts(collection = "papers"): Promise<PlainRow["text"][]> {
    return (await allRows(this.vectors, collection)).map(({ text }) => text);
  }
}
