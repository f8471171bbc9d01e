/** `pinakes triples load`: loads RDF files into a collection, with a progress bar on terminals. */
import type { Readable } from "node:stream";
import type { LoadResult } from "../../knowledge/index.ts";
import { formatOfFileName, rdfFormats, type RdfFormat } from "../../rdf/index.ts";
import { defineCommand, failureExitCode, UsageError, type Call } from "../terminal/command.ts";
import { count, oneLine } from "../terminal/layout.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";
import { actorOptions, readAddress, withStores } from "../session.ts";
import { openInput, type InputFile } from "./triples-input.ts";

const formats = Object.keys(rdfFormats) as RdfFormat[];

export const load = defineCommand({
  usage: "<repository/collection> <file | ->",
  words: [2, 2],
  summary: "load RDF into a collection",
  details: `
The format comes from the ending of the file's name (${formats.flatMap((format) => rdfFormats[format].extensions).join(" ")}) or from --format.
On an error its line is reported, the exit code is 1, and earlier triples are kept; with --all-or-nothing none are. Loading the same file again
changes nothing.`,
  options: {
    format: { type: "string", value: "NAME", help: formats.join(", ") },
    "all-or-nothing": { type: "boolean", help: "store nothing unless the whole file is valid" },
    base: { type: "string", value: "IRI", help: "base for relative IRIs", elsewhere: ["base-iri"] },
    graph: { type: "string", value: "IRI", help: "the graph for triples without a graph in the file" },
    ...actorOptions,
  },
  examples: [
    "pinakes triples load kb/papers people.ttl",
    "gunzip -c dump.nq.gz | pinakes triples load kb/papers - --format nquads",
  ],
  localOnly: "RDF is read and stored as a stream",
  run: async (call) => {
    const { given, terminal, words } = call;
    const { repository, collection } = readAddress(words[0] as string);
    const format = formatOf(call);
    const input = await openInput(words[1] as string, terminal);
    return withStores(
      call,
      { action: "triples.load", verb: "create", resource: "triples" },
      async ({ knowledge, caller }) => {
        const bar = new Progress(call, input);
        try {
          const result = await knowledge.graph.loadTriples(caller, repository, collection, {
            format,
            body: bar.counted(),
            all_or_nothing: given.has("all-or-nothing"),
            base_iri: given.text("base"),
            graph: given.text("graph"),
            progress: ({ inserted }) => bar.note(inserted),
          });
          return {
            answer: result,
            show: () => resultText(input.name, result),
            code: result.errors === undefined ? 0 : failureExitCode,
          };
        } finally {
          bar.end();
        }
      },
    );
  },
});

function formatOf({ given, words }: Call<"format">): RdfFormat {
  const named = given.oneOf("format", formats);
  if (named !== undefined) return named;
  const name = words[1] as string;
  const found = formatOfFileName(name);
  if (found !== undefined) return found;
  throw new UsageError(
    `${name === "-" ? "what is piped in has no name" : `"${name}" does not tell its format by its ending`}; say it with --format: ${formats.join(", ")}.`,
  );
}

/** The size of a file in bytes; that of stdin is unknown. */
class Progress {
  readonly #bar: ProgressBar | undefined;
  readonly #input: InputFile;
  #bytes = 0;
  #inserted = 0;

  constructor({ terminal }: Call, input: InputFile) {
    const { progressColumns } = terminal;
    this.#input = input;
    this.#bar =
      progressColumns === undefined || input.bytes === undefined
        ? undefined
        : new ProgressBar(terminal.err, undefined, progressColumns);
  }

  async *counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#input.stream as Readable & AsyncIterable<Buffer>) {
      this.#bytes += chunk.length;
      this.#show();
      yield chunk;
    }
  }

  note(inserted: number): void {
    this.#inserted = inserted;
    this.#show();
  }

  end(): void {
    this.#bar?.end();
    this.#input.stream.destroy();
  }

  #show(): void {
    const kB = (bytes: number) => Math.ceil(bytes / 1_000);
    this.#bar?.show(
      `${this.#input.name} (kB)`,
      kB(this.#bytes),
      kB(this.#input.bytes ?? 0),
      `${count(this.#inserted, "new triple")} stored`,
    );
  }
}

function resultText(name: string, { read, inserted, errors = [] }: LoadResult): string {
  const there = read - inserted;
  const told = `${count(read, "triple")} read, ${inserted.toLocaleString("en-US")} new${there > 0 ? `, ${there.toLocaleString("en-US")} there already` : ""}.`;
  return [
    ...errors.map(({ detail, line }) => `${name}${line === null ? "" : `:${line}`}: ${oneLine(detail)}`),
    errors.length === 0 ? told : `Before that: ${told}`,
  ].join("\n");
}
