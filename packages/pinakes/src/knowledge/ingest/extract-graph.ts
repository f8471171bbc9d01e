/** Extracts the triples of a document by its collection's settings, and the summary for its record. */
import type { Chunk } from "../../domain/chunking.ts";
import type { ChatModels } from "../../ports/chat-model.ts";
import type { ParsedText } from "../../ports/parser.ts";
import type { CollectionPartition } from "../records/collection-partition.ts";
import {
  checkChatModel,
  effectiveGraph,
  extractDocument,
  extractFacts,
  isProse,
  type Extraction,
  type ExtractionInput,
  type FailedPassage,
  type GraphSettings,
} from "../extraction/index.ts";
import type { CollectionRecord, DocumentGraph, DocumentRecord, RepositoryRecord } from "../records/records.ts";
import type { KnowledgeDependencies } from "../dependencies.ts";
import { readAnswers, saveAnswers } from "./model-answers.ts";

export interface GraphWork {
  readonly partition: CollectionPartition;
  readonly repository: RepositoryRecord;
  readonly collection: CollectionRecord;
  readonly document: DocumentRecord;
  /** The version of the text. */
  readonly version: number;
  readonly parsed: ParsedText;
  readonly chunks: readonly Chunk[];
  readonly signal: AbortSignal;
  readonly alive: () => Promise<void>;
}

export interface ExtractedGraph extends Extraction {
  readonly summary: Omit<DocumentGraph, "sources">;
}

type GraphDependencies = Pick<KnowledgeDependencies, "objects" | "chat">;

export async function extractGraph(deps: GraphDependencies, work: GraphWork): Promise<ExtractedGraph> {
  const { repository, collection, document, parsed, chunks, signal } = work;
  const settings = effectiveGraph(repository, collection);
  const failed: FailedPassage[] = [];
  const asks = settings.extract === "llm" && isProse(document.file_type);
  const model: ExtractionInput["model"] = asks
    ? async (facts, names) => void failed.push(...(await askModel(deps, work, settings, facts, names)))
    : undefined;
  const extraction = await extractDocument({
    collection: collection,
    document,
    parsed,
    chunks,
    settings,
    signal,
    model,
  });
  const { triples, warnings } = extraction;
  return {
    ...extraction,
    summary: {
      triples,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(failed.length === 0 ? {} : { failed_chunks: failed }),
    },
  };
}

type AskWith = Parameters<NonNullable<ExtractionInput["model"]>>;

async function askModel(
  deps: GraphDependencies,
  work: GraphWork,
  settings: GraphSettings,
  ...[facts, names]: AskWith
): Promise<readonly FailedPassage[]> {
  const { partition, document, version, chunks, signal, alive } = work;
  // It may have been configured when the setting was stored, and not be now.
  checkChatModel(settings, deps.chat);
  const chat = await (deps.chat as ChatModels).get(settings.model);
  // A new version often shares chunks with the previous one.
  const versions = [...new Set([...(document.live === null ? [] : [document.live.version]), version])];
  const answers = await readAnswers(deps.objects, partition, document.document_id, versions);
  const before = answers.size;
  try {
    return await extractFacts({ chunks, chat, types: settings.entity_types, signal, answers, alive }, facts, names);
  } finally {
    if (answers.size > before) await saveAnswers(deps.objects, partition, document.document_id, version, answers);
  }
}
