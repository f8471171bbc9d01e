/** The body of a SPARQL request: plain text, or the form fields of the SPARQL 1.1 Protocol. */
import { invalid } from "../../domain/errors.ts";
import type { SparqlInput } from "../../knowledge/index.ts";

type GraphField = "default-graph-uri" | "named-graph-uri" | "using-graph-uri" | "using-named-graph-uri";
export type SparqlGraphs = { readonly [Field in GraphField]?: readonly string[] | undefined };

export type SentSettings = Pick<
  SparqlInput,
  "default_graph" | "timeout_ms" | "limit" | "base_iri" | "include_metadata"
>;

const single = ["query", "update", "timeout_ms", "limit", "base_iri", "default_graph", "include_metadata"] as const;
const many: readonly GraphField[] = [
  "default-graph-uri",
  "named-graph-uri",
  "using-graph-uri",
  "using-named-graph-uri",
];

export async function readText(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = Buffer.concat(await Array.fromAsync(stream));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw invalid("The body is not valid UTF-8; encode it as UTF-8.", { cause: error });
  }
}

/** URL parameters apply where the form has none. */
export function readSparqlForm(text: string, inAddress: SparqlGraphs & SentSettings): SparqlInput {
  const fields = new URLSearchParams(text);
  for (const name of new Set(fields.keys())) {
    const known = (single as readonly string[]).includes(name) || (many as readonly string[]).includes(name);
    if (!known)
      throw invalid(
        `${name}: is not a field of a SPARQL request; known fields are ${[...single, ...many].join(", ")}.`,
      );
    if (!(many as readonly string[]).includes(name) && fields.getAll(name).length > 1)
      throw invalid(`${name}: is specified more than once.`);
  }
  const graphs = (first: GraphField, second: GraphField) => {
    const sent = [...fields.getAll(first), ...fields.getAll(second)];
    return sent.length > 0 ? sent : (inAddress[first] ?? inAddress[second]);
  };
  return {
    query: fields.get("query") ?? undefined,
    update: fields.get("update") ?? undefined,
    default_graphs: graphs("default-graph-uri", "using-graph-uri"),
    named_graphs: graphs("named-graph-uri", "using-named-graph-uri"),
    default_graph: (fields.get("default_graph") as SparqlInput["default_graph"] | null) ?? inAddress.default_graph,
    timeout_ms: numberOf(fields, "timeout_ms") ?? inAddress.timeout_ms,
    limit: numberOf(fields, "limit") ?? inAddress.limit,
    base_iri: fields.get("base_iri") ?? inAddress.base_iri,
    include_metadata: flagOf(fields, "include_metadata") ?? inAddress.include_metadata,
  };
}

function flagOf(fields: URLSearchParams, name: string): boolean | undefined {
  const text = fields.get(name);
  if (text === null) return undefined;
  if (text !== "true" && text !== "false") throw invalid(`${name}: must be true or false.`);
  return text === "true";
}

/** The feature rejects invalid numbers with its own message. */
function numberOf(fields: URLSearchParams, name: string): number | undefined {
  const text = fields.get(name);
  if (text === null) return undefined;
  return text.trim() === "" ? Number.NaN : Number(text);
}
