/** TrustGraph's clients: triples by pattern, and a list of collections. */
import { startServer } from "../knowledge/server.ts";
import type { Row } from "../lib/report.ts";
import { documents } from "./collection.ts";
import { costRow } from "./measure.ts";

const costMax = 1.1;
const subjects = 200;

export async function trustGraphRows(): Promise<readonly Row[]> {
  await using server = await startServer();
  const collections = "/v1/repositories/me/collections";
  await server.call("POST", collections, { collection_id: "bench", name: "Bench" });
  const term = (name: string) => ({ type: "iri", value: `http://e.org/${name}` });
  const items = Array.from({ length: documents }, (_, i) => ({
    s: term(`s${i % subjects}`),
    p: term(`p${i % 7}`),
    o: { type: "literal", value: `value ${i}` },
  }));
  for (let i = 0; i < items.length; i += 1_000)
    await server.call("POST", `${collections}/bench/triples`, { triples: items.slice(i, i + 1_000) });
  const subject = (i: number) => `http://e.org/s${i % subjects}`;
  return [
    await costRow({
      name: "TrustGraph: triples of a subject",
      bar: costMax,
      operations: 200,
      facade: async (i) => {
        const body = { collection: "bench", s: { t: "i", i: subject(i) }, limit: 100 };
        const { response } = (await server.call("POST", "/api/v1/flow/default/service/triples", body)) as {
          response?: readonly object[];
        };
        if (response?.length !== Math.ceil((items.length - (i % subjects)) / subjects))
          throw new Error("Not its triples.");
      },
      plain: (i) =>
        server.call(
          "GET",
          `${collections}/bench/triples?s=${encodeURIComponent(`<${subject(i)}>`)}&g=default&limit=100`,
        ),
    }),
    await costRow({
      name: "TrustGraph: list-collections",
      bar: costMax,
      operations: 200,
      facade: () => server.call("POST", "/api/v1/collection-management", { operation: "list-collections" }),
      plain: () => server.call("GET", `${collections}?limit=100`),
    }),
  ];
}
