/** Reads of the other collection, by a few clients that pause between two: the machine is not full before the delete begins. */
import { setTimeout as sleep } from "node:timers/promises";
import { collectionPath, passage, type Filled } from "./fill.ts";
import type { DeletesServer } from "./server.ts";

export const readKinds = ["search", "document", "chunks"] as const;
export type ReadKind = (typeof readKinds)[number];
/** Milliseconds of every read. */
export type Times = Readonly<Record<ReadKind, readonly number[]>>;

const clients = 2;
const pauseMs = 20;
/** Asked again and again, so that their vectors are known already and the time is that of the search. */
const questions = 100;

export class Reads {
  readonly #server: DeletesServer;
  readonly #filled: Filled;

  constructor(server: DeletesServer, filled: Filled) {
    this.#server = server;
    this.#filled = filled;
  }

  /** So that vectors of questions, views and statements are there. */
  async warm(): Promise<void> {
    for (let n = 0; n < questions; n += 1) for (const kind of readKinds) await this.#read(kind, n);
  }

  /** Until `enough` of the number of reads so far. */
  async run(enough: (reads: number) => boolean): Promise<Times> {
    const times: Record<ReadKind, number[]> = { search: [], document: [], chunks: [] };
    let next = 0;
    const client = async (): Promise<void> => {
      while (!enough(next)) {
        const n = next++;
        const kind = readKinds[n % readKinds.length] as ReadKind;
        const began = performance.now();
        await this.#read(kind, n);
        times[kind].push(performance.now() - began);
        await sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return times;
  }

  async #read(kind: ReadKind, n: number): Promise<void> {
    const path = collectionPath("other");
    const document = this.#filled.otherDocuments[n % this.#filled.otherDocuments.length] as string;
    if (kind === "search") {
      const { hits } = await this.#server.call<{ hits: unknown[] }>("POST", `${path}/search`, { query: passage(n % questions).slice(0, 80), limit: 10 });
      if (hits.length === 0) throw new Error("A search of the other collection found nothing.");
    } else if (kind === "document") await this.#server.call("GET", `${path}/documents/${document}`);
    else {
      const { items } = await this.#server.call<{ items: unknown[] }>("GET", `${path}/documents/${document}/chunks?limit=100`);
      if (items.length === 0) throw new Error("A document of the other collection has no passages.");
    }
  }
}

export function together(a: Times, b: Times): Times {
  return { search: [...a.search, ...b.search], document: [...a.document, ...b.document], chunks: [...a.chunks, ...b.chunks] };
}
