/** A collection of documents that a facade and `/v1` search. FACADES_DOCUMENTS: how many documents (2,000). */
import { settled, textOf, type BenchServer } from "../knowledge/server.ts";

export const documents = Number(process.env["FACADES_DOCUMENTS"] ?? 2_000);

export interface SearchableCollection {
  /** Of `/v1`. */
  readonly path: string;
  /** "repository/collection". */
  readonly name: string;
}

export async function fillCollection(
  server: BenchServer,
  repository: string,
  collection: string,
  count: number = documents,
): Promise<SearchableCollection> {
  const path = `/v1/repositories/${repository}/collections/${collection}`;
  let next = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = next++; i < count; i = next++)
        await server.call("POST", `${path}/documents`, {
          name: `f${i}.txt`,
          text: textOf(i, 300),
          metadata: { bucket: i % 100 },
        });
    }),
  );
  await settled(server, path, count);
  await server.call("POST", `${path}:compact`);
  return { path, name: `${repository}/${collection}` };
}
