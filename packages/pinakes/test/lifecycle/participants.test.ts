/** Every built-in store fulfils the contract of a participant, on every engine. */
import { join } from "node:path";
import { beforeAll, describe } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hasCode } from "../../src/domain/errors.ts";
import { defaultGraph } from "../../src/domain/rdf.ts";
import { CollectionPartition } from "../../src/knowledge/records/collection-partition.ts";
import { DocumentsStore } from "../../src/knowledge/deletion/stores/documents-store.ts";
import { ObjectsStore } from "../../src/knowledge/deletion/stores/objects-store.ts";
import { TriplesStore } from "../../src/knowledge/deletion/stores/triples-store.ts";
import { VectorsStore } from "../../src/knowledge/deletion/stores/vectors-store.ts";
import { collectionsContainer, documentsContainer } from "../../src/knowledge/records/records.ts";
import { open } from "../../src/open.ts";
import { useServers } from "../support/servers.ts";
import { participantSuite, type SuiteStore } from "./support/participant-suite.ts";
import { forAllTests } from "../support/for-tests.ts";

const { postgres, dynamo } = useServers();
const engines: readonly [string, (dir: string) => Promise<{ items: string; objects: string }>][] = [
  ["memory", async () => ({ items: "memory:", objects: "memory:" })],
  ["SQLite beside a folder", async (dir) => ({ items: `sqlite:${dir}`, objects: `file:${join(dir, "objects")}` })],
  ["PostgreSQL", async (dir) => ({ items: postgres(), objects: `file:${join(dir, "objects")}` })],
  ["DynamoDB", async () => ({ items: dynamo("participants"), objects: "memory:" })],
];

/** Whether the write was accepted. */
async function taken(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (hasCode(error, "CONFLICT", "NOT_FOUND")) return false;
    throw error;
  }
}

describe.each(engines)("participants on %s", (_, address) => {
  const dir = temporaryFolder("participants");
  const pinakes = forAllTests(async () => open({ dir, background: false, ...(await address(dir)) }));
  beforeAll(async () => {
    for (const container of [collectionsContainer, documentsContainer]) await pinakes.items.openContainer(container);
  });

  describe("documents", () => {
    const store = (): SuiteStore => ({
      participant: new DocumentsStore(pinakes),
      put: async (scope, incarnation, rows) => {
        const partition = new CollectionPartition(pinakes.items, scope, incarnation);
        await partition.ensure();
        const started = Date.now();
        for (let at = 0; at < rows; at += 20) {
          const documents = Array.from({ length: Math.min(20, rows - at) }, (_unused, i) =>
            partition.document(`document:${started}-${at + i}`, { kind: "document" }),
          );
          if (!(await taken(partition.write(documents.map((document) => ({ op: "upsert" as const, document }))))))
            return false;
        }
        return true;
      },
      reads: async (scope, { repository_id, incarnation }) =>
        (
          await pinakes.items.query(scope, "documents", {
            equals: { repository_id, incarnation },
            range: { prefix: "document:" },
          })
        ).items.length > 0,
    });
    participantSuite(store, { own: true });
  });

  describe("vectors", () => {
    const store = (): SuiteStore => ({
      participant: new VectorsStore(pinakes),
      put: (scope, { incarnation }, rows) =>
        taken(
          (async () => {
            for (const name of [`${incarnation}.1`, `${incarnation}.2`, `${incarnation}.own`]) {
              await pinakes.vectors.create(scope, name, { dims: 3 });
              await pinakes.vectors.append(scope, name, {
                upsert: Array.from({ length: rows }, (_unused, i) => ({ id: `v${i}`, vector: [i, 1, 2] })),
              });
            }
          })(),
        ),
      reads: async (scope, { incarnation }) =>
        (await pinakes.vectors.count(scope, `${incarnation}.1`).catch(() => 0)) > 0,
    });
    participantSuite(store, { own: true });
  });

  describe("objects", () => {
    const store = (): SuiteStore => ({
      participant: new ObjectsStore(pinakes),
      put: async (scope, { incarnation }, rows) => {
        for (let i = 0; i < rows; i += 1)
          await pinakes.objects.put(scope, `knowledge/${incarnation}/d${i}/1/content`, Buffer.from("bytes"));
        return true;
      },
      reads: async (scope, { incarnation }) =>
        (await pinakes.objects.get(scope, `knowledge/${incarnation}/d0/1/content`)) !== undefined,
    });
    participantSuite(store, { own: false });
  });

  describe("triples", () => {
    const store = (): SuiteStore => ({
      participant: new TriplesStore(pinakes.triples),
      put: (scope, { incarnation }, rows) =>
        taken(
          (async () => {
            await pinakes.triples.open(scope, incarnation);
            const insert = Array.from({ length: rows }, (_unused, i) => ({
              s: `<urn:s${i}>`,
              p: "<urn:p>",
              o: `"o${i}"`,
              g: i % 2 === 0 ? defaultGraph : "<urn:g>",
            }));
            await pinakes.triples.write(scope, incarnation, { insert });
          })(),
        ),
      reads: async (scope, { incarnation }) => (await pinakes.triples.count(scope, incarnation, {}).catch(() => 0)) > 0,
    });
    participantSuite(store, { own: true });
  });
});
