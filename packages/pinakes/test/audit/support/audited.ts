/**
 * A complete Pinakes with documents, rows and triples and a manual clock, and audits of it. Damage is planted directly in the stores,
 * bypassing everything that would prevent it.
 */
import { expect } from "vitest";
import type { OpenOptions } from "../../../src/open.ts";
import type { AuditReport, FsckInput } from "../../../src/knowledge/index.ts";
import {
  openTestPinakes,
  uploaded,
  type Engine,
  type Place,
  type TestPinakes,
} from "../../knowledge/support/test-pinakes.ts";
import { until } from "../../support/until.ts";

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

export class Audited implements AsyncDisposable {
  readonly test: TestPinakes;
  readonly time: { shift: number };

  private constructor(test: TestPinakes, time: { shift: number }) {
    this.test = test;
    this.time = time;
  }

  static async open(engine: Engine | "elsewhere", options: OpenOptions = {}): Promise<Audited> {
    const time = { shift: 0 };
    return new Audited(
      await openTestPinakes(engine, { clock: { now: () => Date.now() + time.shift }, ...options }),
      time,
    );
  }

  get scope() {
    return this.test.admin.scope;
  }

  /** A collection with two indexed documents, own rows and own triples. */
  async place(name = "Papers"): Promise<Filled> {
    const { knowledge, admin } = this.test;
    const repository = `r-${Math.random().toString(36).slice(2, 10)}`;
    await knowledge.repositories.create(admin, { repository_id: repository });
    const { collection_id, incarnation } = await knowledge.collections.create(admin, repository, { name });
    const place: Place = { knowledge, caller: admin, repository, collection: collection_id };
    const first = await uploaded(place, "first.md", "# Turing\n\nAlan Turing wrote On Computable Numbers in 1936.\n");
    const second = await uploaded(place, "second.md", "# Hopper\n\nGrace Hopper wrote the first compiler.\n");
    expect([first.status, second.status]).toEqual(["indexed", "indexed"]);
    await knowledge.rows.upsert(admin, repository, collection_id, { items: [{ id: "own", vector: [1, 2] }] });
    const body = Buffer.from("<urn:a> <urn:b> <urn:c> .\n");
    await knowledge.graph.loadTriples(admin, repository, collection_id, {
      format: "ntriples",
      body: (async function* () {
        yield body;
      })(),
    });
    return { ...place, incarnation, first: first.document_id, second: second.document_id };
  }

  async fsck(input: FsckInput = {}): Promise<AuditReport> {
    const { knowledge, admin } = this.test;
    const { job_id } = await knowledge.audit.fsck(admin, input);
    const job = await until(async () => {
      const now = await knowledge.jobs.get(admin, job_id);
      return now.status === "queued" || now.status === "running" ? undefined : now;
    });
    expect(job.error).toBeNull();
    return job.result as unknown as AuditReport;
  }

  /** The findings, one line each. */
  async kinds(input: FsckInput = {}): Promise<readonly string[]> {
    return (await this.fsck(input)).findings
      .map(({ kind, repaired }) => (repaired ? `${kind} repaired` : kind))
      .toSorted();
  }

  /** Waits until every document of a collection is indexed or failed. */
  async rest({ knowledge, caller, repository, collection }: Place): Promise<void> {
    await until(async () => {
      const { items } = await knowledge.documents.list(caller, repository, collection, { limit: 100 });
      return items.every(({ status }) => status === "indexed" || status === "failed");
    });
  }

  /** Everything of an incarnation that an audit could change, to prove that it did not. */
  async state({ repository, incarnation }: Filled): Promise<unknown> {
    const { items, objects, triples, vectors } = this.test.pinakes;
    const documents = await items.query(this.scope, "documents", {
      equals: { repository_id: repository, incarnation },
      limit: 1_000,
    });
    const { keys } = await objects.list(this.scope, `knowledge/${incarnation}/`, { limit: 1_000 });
    const rows = async (name: string) =>
      (await Array.fromAsync(vectors.rows(this.scope, name))).map(({ id }) => id).toSorted();
    return {
      documents: documents.items.map(({ id, document }) => [id, document]),
      objects: keys.map(({ key, bytes }) => [key, bytes]),
      passages: await rows(`${incarnation}.1`),
      own: await rows(`${incarnation}.own`),
      triples: await triples.usage(this.scope, incarnation),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.test[Symbol.asyncDispose]();
  }
}

export interface Filled extends Place {
  readonly incarnation: string;
  readonly first: string;
  readonly second: string;
}
