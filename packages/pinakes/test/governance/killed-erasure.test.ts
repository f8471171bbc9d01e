/**
 * The erasure of a user whose process is killed with -9 again and again, while others write: nothing of the user is left in the raw bytes
 * of any file, and nothing of others is missing. `npm run test:long` plants 1,000 canaries and kills twenty times (ERASURE_CANARIES,
 * ERASURE_KILLS); ERASURE_SEED repeats a run.
 */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditApi, verifyExport, verifyReceipts } from "../../src/governance/index.ts";
import { startPostgres, type TestServer } from "../../src/drivers/postgres/test-server.ts";
import { open, type Pinakes } from "../../src/open.ts";
import { openTestPinakes, type TestPinakes } from "../knowledge/support/test-pinakes.ts";
import { event } from "./support/audit-logs.ts";
import { fatals, live, randomOf, type Acknowledged, type ErasingSettings } from "./support/killed-erasure.ts";
import { plant, type Planted, type Shared } from "./support/plant.ts";
import { exportSubject, orders, plantMore } from "./support/plant-more.ts";
import { filesBelow, foundIn } from "./support/raw-bytes.ts";

const wanted = Number(process.env["ERASURE_CANARIES"] ?? 40);
const kills = Number(process.env["ERASURE_KILLS"] ?? 3);
const seed = Number(process.env["ERASURE_SEED"] ?? Math.floor(Math.random() * 1_000_000));
const writers = 8;
/** Of plant.ts: 9 a round beside these. */
const canariesBeside = 21;
/** Of what others changed or deleted, by their names: their bytes may go when files are rewritten. */
const changed = /canary\w+?(?:expired|changed|said|gone|deleted|old|orderbefore|samerow)\d/;

interface Run {
  readonly acknowledged: readonly Acknowledged[];
  readonly accepted: readonly string[];
  readonly killed: number;
}

describe.each(["SQLite", "PostgreSQL"])(
  `the erasure of a user on %s, killed ${kills} times while ${writers} writers write (ERASURE_SEED=${seed})`,
  (engine) => {
    const server = engine === "PostgreSQL" ? usePostgres() : undefined;
    let test: TestPinakes;
    let erin: Planted;
    let otto: Planted;
    let run: Run;
    let log: string;
    /** Canaries whose bytes are in the files before the erasure. */
    let planted: ReadonlySet<string | undefined>;
    /** The same of the other user. */
    let before: ReadonlySet<string | undefined>;
    const shared: Shared = { repository: "kb", collection: "" };
    const canaries: string[] = [];

    beforeAll(async () => {
      test =
        server === undefined
          ? await openTestPinakes("sqlite", { erasureFenceMs: 0 })
          : await openTestPinakes("elsewhere", { erasureFenceMs: 0, items: server.url() });
      await test.knowledge.repositories.create(test.admin, { repository_id: "kb" });
      const { collection_id } = await test.knowledge.collections.create(test.admin, "kb", { name: "Shared" });
      Object.assign(shared, { collection: collection_id });
      const rounds = Math.max(1, Math.ceil((wanted - canariesBeside) / 9));
      erin = await plant(test, shared, "erin", rounds);
      canaries.push(...erin.canaries, ...(await plantMore(test, shared, "erin")));
      otto = await plant(test, shared, "otto", 2);
      await plantMore(test, shared, "otto");
      await exportSubject(test, "erin");
      for (const userId of ["erin", "otto", "erin"])
        await test.pinakes.audit.append(test.admin.scope, event({ userId }));
      log = join(test.dir, "process.log");
      writeFileSync(log, test.lines.join("\n"));
      const containers = (await test.pinakes.items.erasure.containers()).length;
      await test.pinakes.close();
      await server?.analyze();
      planted = new Set((await search(canaries)).map((line) => line.split(": ").at(-1)));
      before = new Set((await search(otto.canaries)).map((line) => line.split(": ").at(-1)));
      run = await killed(containers);
    });
    afterAll(() => test[Symbol.asyncDispose]());

    /** Every file of the stores; of PostgreSQL what its tables and indexes are in, but not its log, which the receipt names as not covered. */
    const search = async (needles: readonly (string | Uint8Array)[]): Promise<readonly string[]> => [
      ...foundIn(test.dir, needles),
      ...(server === undefined ? [] : foundIn(await server.files(), needles)),
    ];

    async function killed(containers: number): Promise<Run> {
      const { dir, stores } = test;
      const settings: Omit<ErasingSettings, "life" | "probe"> = { dir, stores, log, user: "erin", shared, writers };
      const acknowledged: Acknowledged[] = [];
      const accepted: string[] = [];
      let deaths = 0;
      // Its files are rewritten once nothing is left: from then on nobody knows whose erasure it was.
      let probe = true;
      for (const [life, fatal] of [...fatals(kills, containers, randomOf(seed)), undefined].entries()) {
        const { lines, killed: died } = await live({ ...settings, life, probe, fatal });
        probe &&= fatal?.call !== "scrub";
        for (const line of lines) {
          if ("kind" in line) acknowledged.push(line);
          else if ("accepted" in line) accepted.push(`life ${life}: ${line.accepted}`);
          else expect(line).toEqual({ ended: "done_live", error: null });
        }
        expect(died, `life ${life}, ${JSON.stringify(fatal)}`).toBe(fatal !== undefined);
        if (died) deaths += 1;
      }
      return { acknowledged, accepted, killed: deaths };
    }

    const afterwards = async <T>(work: (pinakes: Pinakes) => Promise<T>): Promise<T> => {
      await using pinakes = await open({ dir: test.dir, ...test.stores, erasureFenceMs: 0, background: false });
      return await work(pinakes);
    };

    it("R-AGT-64 R-AGT-68 no byte of the user is in any file: stores, logs, segments, versions, archives, uploads under way", async () => {
      expect(canaries.length).toBeGreaterThanOrEqual(wanted);
      // Earlier versions and what was deleted may be gone already; the rest is there to be found.
      const absent = canaries.filter((one) => !planted.has(one) && !changed.test(one));
      // PostgreSQL compresses long values.
      if (server === undefined) expect(absent).toEqual([]);
      expect(planted.size).toBeGreaterThan(canaries.length * 0.8);
      expect(run.killed).toBe(kills);
      const left = await search([...canaries, ...erin.vectors, ...erin.sessions, "canaryerin"]);
      expect(left).toEqual([]);
      const files = [test.dir, ...(server === undefined ? [] : [await server.files()])].flatMap(filesBelow);
      const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
      console.log(
        `${engine}: ${canaries.length} canaries (${planted.size} found before) and ${erin.vectors.length} vectors erased; ${kills} kills, ${run.acknowledged.length} writes of others; ${bytes} bytes searched, 0 found (seed ${seed})`,
      );
    });

    it("R-AGT-67 behind the fence nothing that names the user was accepted", () => {
      expect(run.accepted).toEqual([]);
    });

    it("R-AGT-67 nothing of others is missing: what was there before, and every write that was acknowledged", async () => {
      const still = new Set((await search(otto.canaries)).map((line) => line.split(": ").at(-1)));
      expect(otto.canaries.filter((one) => !changed.test(one) && before.has(one) && !still.has(one))).toEqual([]);
      expect(run.acknowledged.length).toBeGreaterThan(writers * kills);
      expect(new Set(run.acknowledged.map(({ writer }) => writer)).size).toBe(writers);
      await afterwards(async (pinakes) => {
        const lost: Acknowledged[] = [];
        for (const one of run.acknowledged) {
          const text = await read(pinakes, one).catch((error: unknown) => String(error));
          if (!text.includes(one.text)) lost.push(one);
        }
        expect(lost).toEqual([]);
      });
    });

    async function read(pinakes: Pinakes, { kind, writer, at, id, text }: Acknowledged): Promise<string> {
      const who = pinakes.as({ tenant: "acme", userId: `writer-${writer}`, role: "admin" });
      const api = pinakes.state.as(who);
      switch (kind) {
        case "memory":
          return (await api.memories.get(at, id)).content;
        case "thread":
          return JSON.stringify(await api.threads.get(at, id));
        case "order":
          return JSON.stringify(await api.containers.read(orders, at, id));
        case "workflow": {
          const flow = await api.workflows.get(id);
          const { state } = await api.workflows.checkpointAt(id, 1);
          return flow.name === text && JSON.stringify(state).includes(text) ? text : JSON.stringify({ flow, state });
        }
        case "document": {
          const { repository, collection } = shared;
          const { body } = await pinakes.knowledge.documents.content(who, repository, collection, id);
          return Buffer.concat(await Array.fromAsync(body)).toString();
        }
      }
    }

    it("R-AGT-68 the receipt verifies and counts zero; a flipped byte anywhere in it or in the audit export is noticed", async () => {
      await afterwards(async (pinakes) => {
        const admin = pinakes.as({ tenant: "acme", userId: "root", role: "admin" });
        const { erasures } = pinakes.governance;
        const { items } = await erasures.receipts(admin);
        const [receipt] = items as [(typeof items)[number]];
        expect(items).toHaveLength(1);
        expect(verifyReceipts([receipt.jws], receipt.public_key, { whole: true })).toMatchObject({ valid: true });
        expect(receipt.content).toMatchObject({ state: "done_live", verified: { remaining: 0 } });
        expect(JSON.stringify(receipt.content)).not.toContain("erin");
        const { erasure_id } = receipt;
        const subject = { type: "user", id: "erin" } as const;
        expect(await erasures.verify(admin, erasure_id, subject)).toMatchObject({ remaining: 0 });
        for (let i = 0; i < receipt.jws.length; i += 1) {
          const flipped = flip(receipt.jws, i);
          expect(verifyReceipts([flipped], receipt.public_key).valid, `byte ${i} of the receipt`).toBe(false);
        }
        const auth = pinakes.identity.embedded(admin);
        const audit = new AuditApi(pinakes.audit);
        const whole = (await Array.fromAsync(audit.export(auth, { format: "ndjson" }))).join("");
        expect(await verifyExport([Buffer.from(whole)])).toMatchObject({ ok: true });
        const random = randomOf(seed);
        for (let i = 0; i < 100; i += 1) {
          const at = Math.floor(random() * whole.length);
          const flipped = Buffer.from(flip(whole, at));
          expect((await verifyExport([flipped])).ok, `byte ${at} of the audit export`).toBe(false);
        }
      });
    });
  },
);

function flip(text: string, at: number): string {
  return `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ 1)}${text.slice(at + 1)}`;
}

/** A server for the tests of a block, and where it keeps tables and indexes. */
function usePostgres() {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  const connected = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client(server.url);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  return {
    url: () => server.url,
    /** As the server does by itself now and then: its statistics hold samples of values. */
    analyze: () => connected((client) => client.query("ANALYZE")),
    /** With everything that is in its memory written out. */
    files: () =>
      connected(async (client) => {
        await client.query("CHECKPOINT");
        const { rows } = await client.query<{ data_directory: string }>("SHOW data_directory");
        return join(rows[0]?.data_directory as string, "base");
      }),
  };
}
