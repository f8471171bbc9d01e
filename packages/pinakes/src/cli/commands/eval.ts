/** `pinakes eval <folder>`: measures searches on a test set, with real uploads, ingestion and search in a separate instance. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Caller } from "../../domain/caller.ts";
import { invalid, PinakesError } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import {
  calibrate,
  compareEvaluated,
  evaluateSet,
  nameOf,
  readBeir,
  readChunkingStrategy,
  readConfiguration,
  refusals,
  type BeirSet,
  type Evaluated,
  type Knowledge,
  type NamedConfiguration,
} from "../../knowledge/index.ts";
import { open } from "../../open.ts";
import { table } from "../terminal/print.ts";
import { ProgressBar } from "../terminal/progress-bar.ts";

const help = `pinakes eval <folder> [options]

Stores the documents of a test set in a temporary instance, searches it with the set's queries, and measures the results:
nDCG@10, recall@10, recall@100, MRR@10, and how long a search took (without the embedding of its query). The folder has the layout
of BEIR: corpus.jsonl, queries.jsonl and qrels/<split>.tsv. Embedding takes most of the time: with the local model 3–4 minutes for
5,000 abstracts on two idle cores.

  --split NAME       the judgements in qrels/NAME.tsv (test)
  --compare          hybrid search both ways: mix of scores (convex) and reciprocal ranks (rrf), and which is better
  --a JSON --b JSON  compare two configurations instead, such as '{"fusion":"convex","vector_weight":0.4}' and '{"fusion":"rrf"}';
                     fields: mode, fusion, vector_weight, diversity, chunking
  --chunking JSON    how documents are cut, such as '{"type":"RECURSIVE","chunk_size":1000}' ({"type":"NONE"}: one passage each)
  --keep FOLDER      keep the instance there; the next run on the same documents and settings does not embed them again
  --calibrate        instead: the coefficients of the hits' scores and their floor for this set and model, and how many of a few dozen
                     questions that mean nothing, or ask about something else, are refused
  --seed N           of the significance test (1)
  --json             print the result as JSON
`;

const options = {
  split: { type: "string" },
  compare: { type: "boolean" },
  a: { type: "string" },
  b: { type: "string" },
  chunking: { type: "string" },
  keep: { type: "string" },
  calibrate: { type: "boolean" },
  seed: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

/** Exit code of a program stopped by Ctrl-C. */
const interrupted = 130;

export interface EvalIo {
  readonly out: (text: string) => void;
  /** Width of the progress bar; absent if there is no terminal. */
  readonly progress?: ((text: string) => void) | undefined;
}

interface Report {
  readonly set: BeirSet;
  readonly evaluated: readonly Evaluated[];
  /** Compares the last two. */
  readonly comparison: ReturnType<typeof compareEvaluated> | undefined;
}

export async function evalCommand(args: readonly string[], io: EvalIo): Promise<number> {
  const { values, positionals } = parse(args);
  const [folder, ...more] = positionals;
  if (values.help === true || folder === undefined) {
    io.out(help);
    return values.help === true ? 0 : 2;
  }
  if (more.length > 0) throw invalid(`"${more.join(" ")}" is unexpected; give one folder.`);
  const configurations = configurationsOf(values);
  const seed = seedOf(values.seed);
  const stop = new AbortController();
  const onInterrupt = () => stop.abort(new PinakesError("CONFLICT", "stopped."));
  process.once("SIGINT", onInterrupt);
  try {
    const set = await readBeir(folder, values.split === undefined ? {} : { split: values.split });
    if (values.calibrate === true) return await calibrateIn(values, set, io, stop.signal);
    const evaluated = await evaluateIn(values.keep, set, configurations, io, stop.signal);
    const [a, b] = evaluated.slice(-2);
    const compared = (values.compare === true || values.a !== undefined) && a !== undefined && b !== undefined;
    const report: Report = { set, evaluated, comparison: compared ? compareEvaluated(a, b, seed) : undefined };
    io.out(values.json === true ? `${JSON.stringify(asJson(report), undefined, 2)}\n` : asText(report));
    return 0;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return interrupted;
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

async function calibrateIn(
  values: Values,
  set: BeirSet,
  { out, progress }: EvalIo,
  signal: AbortSignal,
): Promise<number> {
  const bar = progress === undefined ? undefined : new ProgressBar(progress);
  const { fitted, inUse } = await inInstance(values.keep, async ({ knowledge, caller }) => {
    const how = {
      chunking: chunkingOf(values),
      signal,
      onProgress: (done: number, total: number) => bar?.show("queries", done, total),
    };
    const curves = await calibrate(knowledge, caller, set, how);
    return {
      fitted: curves,
      inUse: [
        await refusals(knowledge, caller, set, "hybrid", how),
        await refusals(knowledge, caller, set, "vector", how),
      ],
    };
  }).finally(() => bar?.end());
  if (values.json === true) {
    out(
      `${JSON.stringify({ split: set.split, queries: set.queries.length, curves: fitted, in_use: inUse }, undefined, 2)}\n`,
    );
    return 0;
  }
  const rows = fitted.map(({ mode, curve, floor, ndcg, ndcg_with_floor, refused }) => ({
    mode,
    bias: curve.bias.toFixed(3),
    vector: curve.vector.toFixed(3),
    keyword: curve.keyword.toFixed(3),
    floor: floor.toFixed(4),
    "ndcg@10": ndcg.toFixed(4),
    "with floor": ndcg_with_floor.toFixed(4),
    "nonsense refused": percent(refused.nonsense),
    "off topic refused": percent(refused.off_topic),
    "judged refused": percent(refused.judged),
  }));
  const now = inUse.map(({ mode, nonsense, off_topic, judged, ndcg, ndcg_without_floor }) => ({
    mode,
    "nonsense refused": percent(nonsense),
    "off topic refused": percent(off_topic),
    "judged refused": percent(judged),
    "ndcg@10": ndcg.toFixed(4),
    "without floor": ndcg_without_floor.toFixed(4),
  }));
  out(`Fitted on this set, with the highest floor that costs 0.001\n\n${table(rows)}\n\nIn use\n\n${table(now)}\n`);
  return 0;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

interface Instance {
  readonly knowledge: Knowledge;
  readonly caller: Caller;
}

async function inInstance<Answer>(
  keep: string | undefined,
  work: (instance: Instance) => Promise<Answer>,
): Promise<Answer> {
  const dir = keep === undefined ? await mkdtemp(join(tmpdir(), "pinakes-eval-")) : resolve(keep);
  try {
    await using pinakes = await open({ dir });
    const caller = pinakes.as({ tenant: "evaluation", userId: "pinakes-eval", role: "admin" });
    return await work({ knowledge: pinakes.knowledge, caller });
  } finally {
    if (keep === undefined) await rm(dir, { recursive: true, force: true });
  }
}

async function evaluateIn(
  keep: string | undefined,
  set: BeirSet,
  configurations: readonly NamedConfiguration[],
  { progress }: EvalIo,
  signal: AbortSignal,
): Promise<readonly Evaluated[]> {
  const bar = progress === undefined ? undefined : new ProgressBar(progress);
  return inInstance(keep, ({ knowledge, caller }) =>
    evaluateSet(knowledge, caller, set, {
      configurations,
      signal,
      onProgress: ({ phase, name, done, total }) =>
        bar?.show(phase === "documents" ? "documents" : `queries (${name})`, done, total),
    }),
  ).finally(() => bar?.end());
}

type Values = ReturnType<typeof parse>["values"];

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}

function chunkingOf({ chunking: given }: Values): NamedConfiguration["chunking"] {
  return readChunkingStrategy(given === undefined ? { type: "NONE" } : jsonOf(given, "--chunking"), "--chunking");
}

function configurationsOf(values: Values): readonly NamedConfiguration[] {
  const { a, b, compare } = values;
  const chunking = chunkingOf(values);
  const named = (search: NamedConfiguration["search"]): NamedConfiguration => ({
    name: nameOf(search),
    search,
    chunking,
  });
  if (a !== undefined || b !== undefined) {
    if (a === undefined || b === undefined) throw invalid("--a and --b: give both or neither.");
    if (compare === true)
      throw invalid(
        '--compare and --a, --b: choose one; --compare is --a \'{"fusion":"convex"}\' --b \'{"fusion":"rrf"}\' and more.',
      );
    return [configurationOf(a, "a", chunking), configurationOf(b, "b", chunking)];
  }
  const hybrids =
    compare === true
      ? [named({ mode: "hybrid", fusion: "convex" }), named({ mode: "hybrid", fusion: "rrf" })]
      : [named({ mode: "hybrid" })];
  return [named({ mode: "keyword" }), named({ mode: "vector" }), ...hybrids];
}

function configurationOf(
  text: string,
  which: "a" | "b",
  chunkingDefault: NamedConfiguration["chunking"],
): NamedConfiguration {
  const where = `--${which}`;
  const given = jsonOf(text, where);
  if (!isJsonObject(given))
    throw invalid(`${where}: must be an object such as {"fusion":"convex","vector_weight":0.4}.`);
  const { chunking, ...rest } = given;
  const search = readConfiguration(rest, where);
  const own = chunking === undefined ? undefined : readChunkingStrategy(chunking, `${where}.chunking`);
  const cut = own === undefined ? "" : `, ${own.type}${own.type === "NONE" ? "" : ` ${own.chunk_size}`}`;
  return { name: `${which}: ${nameOf(search)}${cut}`, search, chunking: own ?? chunkingDefault };
}

function jsonOf(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`${where}: is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function seedOf(text: string | undefined): number {
  const seed = Number(text ?? "1");
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32)
    throw invalid(`--seed: must be a whole number from 0 to 4294967295, got "${text}".`);
  return seed;
}

function asText({ set, evaluated, comparison }: Report): string {
  const stored = evaluated
    .map(({ stored: { reused, seconds } }) => (reused ? 0 : seconds))
    .reduce((sum, seconds) => sum + seconds, 0);
  const empty = set.emptyDocuments === 0 ? "" : `, ${set.emptyDocuments} without text skipped`;
  const took = stored === 0 ? "were there already" : `stored in ${stored.toFixed(0)} s`;
  const head = `${set.documents.length} documents (${took}${empty}), ${set.queries.length} queries of ${set.split}\n${skippedText(set)}\n`;
  const rows = evaluated.map(({ name, quality, searchMs: { p50, p95 } }) => ({
    search: name,
    ...Object.fromEntries(Object.entries(quality).map(([metric, value]) => [metric, value.toFixed(4)])),
    "ms p50": p50.toFixed(1),
    "ms p95": p95.toFixed(1),
  }));
  if (comparison === undefined) return `${head}${table(rows)}\n`;
  const [a, b] = evaluated.slice(-2).map(({ name }) => name);
  const differences = Object.entries(comparison).map(([metric, { difference, pValue, won, lost, tied }]) => ({
    metric,
    difference: `${difference < 0 ? "" : "+"}${difference.toFixed(4)}`,
    p: pValue.toFixed(4),
    won,
    lost,
    tied,
  }));
  return `${head}${table(rows)}\n\n"${b}" against "${a}" (p: randomisation test; queries won, lost, tied)\n\n${table(differences)}\n`;
}

const reasonsShown = 5;

/** Queries of other splits are not judged in this one, so there may be many. */
function skippedText({ skippedQueries }: BeirSet): string {
  const shown = skippedQueries.filter(({ reason }) => reason !== "not judged");
  const unjudged = skippedQueries.filter(({ reason }) => reason === "not judged");
  const lines = (of: typeof shown) =>
    `${of
      .slice(0, reasonsShown)
      .map(({ line }) => line)
      .join(", ")}${of.length > reasonsShown ? ", …" : ""}`;
  return [
    ...(shown.length === 0
      ? []
      : [`queries.jsonl: ${shown.length} without a usable text skipped (line ${lines(shown)})\n`]),
    ...(unjudged.length === 0
      ? []
      : [`queries.jsonl: ${unjudged.length} without a relevant document skipped (line ${lines(unjudged)})\n`]),
  ].join("");
}

const skippedJsonMax = 1_000;

function asJson({ set, evaluated, comparison }: Report): unknown {
  const { split, documents, queries, skippedQueries, emptyDocuments, contentHash } = set;
  return {
    split,
    documents: documents.length,
    empty_documents: emptyDocuments,
    queries: queries.length,
    skipped_queries: skippedQueries.length,
    skipped: skippedQueries.slice(0, skippedJsonMax),
    content_hash: contentHash,
    configurations: evaluated.map(({ name, configuration: { search, chunking }, stored, quality, searchMs }) => ({
      name,
      search,
      chunking,
      reused: stored.reused,
      stored_seconds: stored.seconds,
      quality,
      search_ms: searchMs,
    })),
    ...(comparison === undefined
      ? {}
      : {
          comparison: Object.fromEntries(
            Object.entries(comparison).map(([metric, { pValue, ...rest }]) => [metric, { ...rest, p_value: pValue }]),
          ),
        }),
  };
}
