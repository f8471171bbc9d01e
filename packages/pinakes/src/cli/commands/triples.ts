/** `pinakes triples …`: the graph of a collection, by pattern. */
import { termText } from "../../domain/rdf.ts";
import { graphLimits, type TripleView } from "../../knowledge/index.ts";
import { rdfFormats, type RdfWriteFormat } from "../../rdf/index.ts";
import { defineCommand, UsageError, type Call, type Given, type Group, type Options } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { withClient } from "../client-session.ts";
import { count, grid } from "../terminal/layout.ts";
import { moreBelow } from "../terminal/pages.ts";
import { actorOptions, readAddress, withStores } from "../session.ts";
import { printable, type Terminal } from "../terminal/terminal.ts";
import { exportInvocations } from "./tools-export.ts";
import { load } from "./triples-load.ts";

const where = "<repository/collection>";
const patternOptions = {
  s: { type: "string", value: "TERM", help: "the subject: an IRI, or _:label", elsewhere: ["subject"] },
  p: { type: "string", value: "TERM", help: "the predicate: an IRI", elsewhere: ["predicate"] },
  o: {
    type: "string",
    value: "TERM",
    help: `the object: an IRI, '"words"', '"words"@en', '"1"^^xsd:integer', _:label`,
    elsewhere: ["object"],
  },
  g: {
    type: "string",
    value: "TERM",
    help: "the graph: an IRI, or default for the default graph",
    elsewhere: ["graph"],
  },
} as const satisfies Options;
const writeFormats = (Object.keys(rdfFormats) as (keyof typeof rdfFormats)[]).filter(
  (format): format is RdfWriteFormat => format !== "json",
);

const query = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "list list the triples that match a pattern",
  options: {
    ...patternOptions,
    limit: { type: "string", value: "N", help: `maximum number of triples (${graphLimits.pageTriplesDefault})` },
    cursor: { type: "string", value: "CURSOR", help: "continue a query: its next_cursor" },
    ...actorOptions,
  },
  examples: [
    "pinakes triples query kb/papers",
    "pinakes triples query kb/papers --p http://xmlns.com/foaf/0.1/name --limit 20",
  ],
  run: async (call) => {
    const { given, terminal, words } = call;
    const at = readAddress(words[0] as string);
    const limit = given.whole("limit", 1, graphLimits.pageTriplesMax);
    return withClient(call, async ({ knowledge }) => {
      const page = await knowledge.graph.match(at, { ...patternOf(given), limit, cursor: given.text("cursor") });
      return {
        answer: page,
        show: () =>
          page.items.length === 0 ? "Nothing was found." : triplesText(terminal, page.items) + moreBelow(page),
      };
    });
  },
});

const exportCommand = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "export export the triples of a collection as RDF, all or those that match",
  details: "Streams to stdout or a file. The default format is N-Quads, which preserves everything.",
  options: {
    format: { type: "string", value: "NAME", help: `${writeFormats.join(", ")} (nquads)` },
    out: { type: "string", value: "FILE", help: "write to a file instead of stdout" },
    ...patternOptions,
    ...actorOptions,
  },
  examples: [
    "pinakes triples export kb/papers --out papers.nq",
    "pinakes triples export kb/papers --format turtle --g default",
  ],
  localOnly: "RDF is streamed from the stores",
  run: async (call) => {
    const { given, words } = call;
    const { repository, collection } = readAddress(words[0] as string);
    const format = given.oneOf("format", writeFormats) ?? "nquads";
    if ((given as Given).has("json") && given.text("out") === undefined)
      throw new UsageError("--json reports a file that was written: give one with --out FILE, or omit --json.");
    return withStores(
      call,
      { action: "triples.export", verb: "export", resource: "triples" },
      async ({ knowledge, caller }) =>
        exportInvocations(
          call,
          await knowledge.graph.exportTriples(caller, repository, collection, { ...patternOf(given), format }),
        ),
    );
  },
});

const remove = defineCommand({
  usage: where,
  words: [1, 1],
  summary: "remove the triples that match a pattern; without one, all of them",
  options: { ...patternOptions, yes: yesOption, ...actorOptions },
  examples: ["pinakes triples remove kb/papers --s https://example.org/ada", "pinakes triples remove kb/papers --yes"],
  run: async (call) => {
    const { given, words } = call;
    const at = readAddress(words[0] as string);
    const pattern = patternOf(given);
    return withClient(call, async ({ knowledge }) => {
      const all = Object.keys(pattern).length === 0;
      // Access is checked before asking for confirmation.
      const { collection_id } = await knowledge.collections.get(at);
      if (all)
        await confirm(call, {
          what: `This permanently removes every triple of ${at.repository}/${at.collection}.`,
          type: at.collection,
          unasked: "refused",
        });
      const { removed } = await knowledge.graph.remove(at, all ? { confirm: collection_id } : pattern);
      return { answer: { removed }, show: () => `${count(removed, "triple")} removed.` };
    });
  },
});

export const triples: Group = {
  summary: "manage the RDF triples of a collection",
  commands: { load, query, export: exportCommand, remove },
};

type Pattern = Readonly<Partial<Record<keyof typeof patternOptions, string>>>;

function patternOf(given: Call<keyof typeof patternOptions>["given"]): Pattern {
  const entries = (["s", "p", "o", "g"] as const).map((place) => [place, given.text(place)] as const);
  return Object.fromEntries(entries.filter(([, text]) => text !== undefined));
}

function triplesText(terminal: Terminal, items: readonly TripleView[]): string {
  const rows = items.map(({ s, p, o, g }) => ({
    s: termText(s),
    p: termText(p),
    o: termText(o),
    g: g === null ? "" : termText(g),
  }));
  return grid(
    terminal,
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, text]) => [name, printable(text)]))),
  );
}
