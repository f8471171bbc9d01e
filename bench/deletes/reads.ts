/**
 * Reads of the other collection, at random times that do not depend on the answers (an open workload): clients that wait for one another
 * fall into step, and then the times tell which kinds of read collide in the server, not how busy it is. The machine is not saturated
 * before the delete begins.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { random } from "../lib/random.ts";
import { collectionPath, passage, type Filled } from "./fill.ts";
import type { DeletesServer } from "./server.ts";

export const readKinds = ["search", "document", "chunks"] as const;
export type ReadKind = (typeof readKinds)[number];
/** Milliseconds of every read. */
export type Times = Readonly<Record<ReadKind, readonly number[]>>;

/** Average time between two reads. */
const gapMs = 20;
/** Repeated, so that their vectors are cached and only the search is measured. */
const questions = 100;

export class Reads {
  readonly #server: DeletesServer;
  readonly #filled: Pick<Filled, "otherDocuments">;

  constructor(server: DeletesServer, filled: Pick<Filled, "otherDocuments">) {
    this.#server = server;
    this.#filled = filled;
  }

  /** Warms up vectors of questions, views and statements. */
  async warm(): Promise<void> {
    for (let n = 0; n < questions; n += 1) for (const kind of readKinds) await this.#read(kind, n);
  }

  /** Until `enough` of the current number of reads. */
  async run(enough: (reads: number) => boolean): Promise<Times> {
    const times: Record<ReadKind, number[]> = { search: [], document: [], chunks: [] };
    const drawn = random(1);
    const underWay = new Set<Promise<void>>();
    for (let n = 0; !enough(n); n += 1) {
      const kind = readKinds[Math.floor(drawn() * readKinds.length)] as ReadKind;
      const began = performance.now();
      const reading = this.#read(kind, n).then(() => void times[kind].push(performance.now() - began));
      underWay.add(reading);
      // A failed one is handled below, where all are awaited.
      reading.then(
        () => underWay.delete(reading),
        () => {},
      );
      await sleep(-Math.log(1 - drawn()) * gapMs);
    }
    await Promise.all(underWay);
    return times;
  }

  async #read(kind: ReadKind, n: number): Promise<void> {
    const path = collectionPath("other");
    const document = this.#filled.otherDocuments[n % this.#filled.otherDocuments.length] as string;
    if (kind === "search") {
      const { hits } = await this.#server.call<{ hits: unknown[] }>("POST", `${path}/search`, {
        query: passage(n % questions).slice(0, 80),
        limit: 10,
      });
      if (hits.length === 0) throw new Error("A search of the other collection found nothing.");
    } else if (kind === "document") await this.#server.call("GET", `${path}/documents/${document}`);
    else {
      const { items } = await this.#server.call<{ items: unknown[] }>(
        "GET",
        `${path}/documents/${document}/chunks?limit=100`,
      );
      if (items.length === 0) throw new Error("A document of the other collection has no chunks.");
    }
  }
}

export function together(a: Times, b: Times): Times {
  return {
    search: [...a.search, ...b.search],
    document: [...a.document, ...b.document],
    chunks: [...a.chunks, ...b.chunks],
  };
}
