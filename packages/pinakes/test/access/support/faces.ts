/** Every face of the library that can tell of documents: which papers a caller learns of through it. */
import type { Caller } from "../../../src/domain/caller.ts";
import { hasCode } from "../../../src/domain/errors.ts";
import { walk } from "../../knowledge/support/test-pinakes.ts";
import type { World } from "./world.ts";

/** The names of papers, or how many there are. */
export type Learned = readonly string[] | number;
export type Face = (world: World, caller: Caller) => Promise<Learned>;

const names = (found: Iterable<string>): readonly string[] => [...new Set(found)].toSorted();

/** Names that a text mentions. */
export function namesIn(text: string): readonly string[] {
  return names([...text.matchAll(/paper-\d+\.csv/g)].map(([name]) => name));
}

/** The papers about which a call does not answer NOT_FOUND. */
export function each(call: (world: World, caller: Caller, documentId: string) => Promise<unknown>): Face {
  return async (world, caller) => {
    const found: string[] = [];
    for (const { name, document_id } of world.papers) {
      try {
        await call(world, caller, document_id);
        found.push(name);
      } catch (error) {
        if (!hasCode(error, "NOT_FOUND")) throw error;
      }
    }
    return names(found);
  };
}

const at = ({ place }: World) => [place.repository, place.collection] as const;

const search =
  (mode: "vector" | "keyword" | "hybrid" | "graph", query: string): Face =>
  async (world, caller) => {
    const [repository, collection] = at(world);
    const { hits } = await world.place.knowledge.search.run(caller, {
      query,
      mode,
      limit: 100,
      collections: [{ repository, collection }],
    });
    return names(hits.map(({ citation }) => citation.filename));
  };

export const documentFaces: Readonly<Record<string, Face>> = {
  list: async (world, caller) =>
    names(
      (await walk((cursor) => world.place.knowledge.documents.list(caller, ...at(world), { limit: 3, cursor }))).map(
        ({ name }) => name,
      ),
    ),
  "list by status": async (world, caller) =>
    names(
      (
        await walk((cursor) =>
          world.place.knowledge.documents.list(caller, ...at(world), { limit: 2, status: "indexed", cursor }),
        )
      ).map(({ name }) => name),
    ),
  get: each((world, caller, id) => world.place.knowledge.documents.get(caller, ...at(world), id)),
  versions: each((world, caller, id) => world.place.knowledge.documents.versions(caller, ...at(world), id)),
  content: each(async (world, caller, id) => {
    const { body } = await world.place.knowledge.documents.content(caller, ...at(world), id);
    for await (const _ of body);
  }),
  text: each((world, caller, id) => world.place.knowledge.documents.text(caller, ...at(world), id)),
  chunks: each((world, caller, id) => world.place.knowledge.documents.passages(caller, ...at(world), id)),
  "triples of a document": each((world, caller, id) =>
    world.place.knowledge.documents.triples(caller, ...at(world), id),
  ),
  link: each((world, caller, id) => world.place.knowledge.grants.download(caller, ...at(world), id)),
  "explain access": each((world, caller, id) => world.place.knowledge.access.explainDocument(caller, ...at(world), id)),
  citations: async (world, caller) => {
    const [repository_id, collection_id] = at(world);
    const { checks } = await world.place.knowledge.search.verifyCitations(
      caller,
      world.papers.map(({ document_id }) => ({
        repository_id,
        collection_id,
        document_id,
        version: 1,
        start: 0,
        end: 4,
        quote: "name",
      })),
    );
    return names(world.papers.flatMap(({ name }, i) => (checks[i]?.result === "document_gone" ? [] : [name])));
  },
};

export const searchFaces: Readonly<Record<string, Face>> = {
  "search by vector": search("vector", "a zebra on a meadow"),
  "search by words": search("keyword", "zebra"),
  "search by both": search("hybrid", "zebra meadow"),
  "search by graph": search("graph", "zebra"),
  "search everywhere": async (world, caller) => {
    const { hits } = await world.place.knowledge.search.run(caller, { query: "zebra", limit: 100 });
    const own = hits.filter(({ repository_id }) => repository_id === world.place.repository);
    return names(own.map(({ citation }) => citation.filename));
  },
  answers: async (world, caller) => {
    const [repository, collection] = at(world);
    const answer = await world.place.knowledge.answers.ask(caller, {
      question: "Which animal is a zebra?",
      limit: 20,
      collections: [{ repository, collection }],
    });
    // It need not quote all.
    const told = new Set(namesIn(JSON.stringify(answer)));
    const shown = await search("hybrid", "zebra meadow")(world, caller);
    const visible = shown as readonly string[];
    return [...told].every((name) => visible.includes(name)) ? visible : names(told);
  },
  jobs: async (world, caller) => {
    const jobs = await walk((cursor) => world.place.knowledge.jobs.list(caller, { limit: 50, cursor }));
    const own = jobs.filter(({ repository_id }) => repository_id === world.place.repository);
    return namesIn(JSON.stringify(own));
  },
};

const sparql =
  (query: string): Face =>
  async (world, caller) =>
    namesIn(await sparqlText(world, caller, query));

async function sparqlText(world: World, caller: Caller, query: string): Promise<string> {
  const answer = await world.place.knowledge.graph.sparql(caller, ...at(world), { query });
  if (answer.kind === "bindings") return JSON.stringify(await Array.fromAsync(answer.rows));
  if (answer.kind === "quads") return JSON.stringify(await Array.fromAsync(answer.quads));
  throw new Error(`a query answered ${answer.kind}`);
}

/** The triple that states where an animal is. */
async function placeTriple(world: World, where: string) {
  const { knowledge, caller } = world.place;
  const { items } = await knowledge.graph.matchTriples(caller, ...at(world), { o: JSON.stringify(where) });
  const [triple] = items;
  if (triple === undefined) throw new Error(`no triple states ${where}`);
  return triple;
}

export const graphFaces: Readonly<Record<string, Face>> = {
  provenance: async (world, caller) => {
    const found: string[] = [];
    for (const { name } of world.papers) {
      const triple = await placeTriple(world, `meadow ${name}`);
      try {
        const { sources } = await world.place.knowledge.search.provenance(caller, ...at(world), triple);
        found.push(...sources.map(({ filename }) => filename));
      } catch (error) {
        if (!hasCode(error, "NOT_FOUND")) throw error;
      }
    }
    return names(found);
  },
  "provenance of what all of them state": async (world, caller) => {
    const triple = await placeTriple(world, "everywhere");
    const { sources } = await world.place.knowledge.search
      .provenance(caller, ...at(world), triple)
      .catch((error: unknown) => {
        if (hasCode(error, "NOT_FOUND")) return { sources: [] };
        throw error;
      });
    return names(sources.map(({ filename }) => filename));
  },
  triples: async (world, caller) =>
    namesIn(
      JSON.stringify(
        await walk((cursor) => world.place.knowledge.graph.matchTriples(caller, ...at(world), { limit: 3, cursor })),
      ),
    ),
  "triples across": async (world, caller) => {
    const [repository, collection] = at(world);
    const collections = [{ repository, collection }];
    return namesIn(
      JSON.stringify(
        await walk((cursor) => world.place.knowledge.graph.matchAcross(caller, { collections, limit: 5, cursor })),
      ),
    );
  },
  "export of triples": async (world, caller) => {
    let text = "";
    for await (const part of await world.place.knowledge.graph.exportTriples(caller, ...at(world), {
      format: "nquads",
    }))
      text += part;
    return namesIn(text);
  },
  sparql: sparql("SELECT * { ?s ?p ?o }"),
  "sparql construct": sparql("CONSTRUCT WHERE { ?s ?p ?o }"),
};

/** How many there are. */
export const countFaces: Readonly<Record<string, Face>> = {
  "count of documents": async (world, caller) =>
    (await world.place.knowledge.collections.get(caller, ...at(world))).document_count,
  "count by status": async (world, caller) =>
    (await world.place.knowledge.collections.get(caller, ...at(world))).documents_by_status.indexed,
  "total of a list": async (world, caller) =>
    (await world.place.knowledge.documents.list(caller, ...at(world), { include_total: true, limit: 1 })).total ?? -1,
  "total of a search by name": async (world, caller) =>
    (
      await world.place.knowledge.documents.list(caller, ...at(world), {
        include_total: true,
        limit: 1,
        q: "paper",
      })
    ).total ?? -1,
  usage: async (world, caller) =>
    (await world.place.knowledge.collections.usage(caller, ...at(world))).recounted.document_count,
  "explain a search": async (world, caller) => {
    const [repository, collection] = at(world);
    const { explain } = await world.place.knowledge.search.run(caller, {
      query: "zebra",
      explain: true,
      collections: [{ repository, collection }],
    });
    // A paper is one chunk.
    return (explain as { collections: readonly { passages: number }[] }).collections[0]?.passages ?? -1;
  },
  "subjects in sparql": async (world, caller) => {
    const query = 'SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s ?p ?o FILTER(STRSTARTS(STR(?o), "meadow ")) }';
    return Number(/"\\"(\d+)\\"/.exec(await sparqlText(world, caller, query))?.[1] ?? -1);
  },
};

export const faces: Readonly<Record<string, Face>> = {
  ...documentFaces,
  ...searchFaces,
  ...graphFaces,
  ...countFaces,
};
