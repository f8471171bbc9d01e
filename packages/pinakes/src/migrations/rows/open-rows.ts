/** Opens exports of vector stores. */
import { invalid } from "../../domain/errors.ts";
import type { MigrationDependencies } from "../dependencies.ts";
import type { AllowedSources } from "../allowed-sources.ts";
import { ChromaFolderReader, ChromaServerReader } from "./chroma-readers.ts";
import { FileReader } from "./file-reader.ts";
import { MilvusDatabase } from "./milvus-database.ts";
import { QdrantDatabase } from "./qdrant-database.ts";
import type { RowReader } from "./row-reader.ts";
import { RowsSource } from "./rows-source.ts";
import type { ChromaSpec, RowsSpec, VectorStoreSpec } from "./spec.ts";
import { milvusNames, qdrantNames } from "./trustgraph-names.ts";
import { VectorStoreReader } from "./vector-store-reader.ts";

interface Opening {
  readonly deps: MigrationDependencies;
  readonly sources: AllowedSources;
}

export async function openRows(spec: RowsSpec, { deps, sources }: Opening): Promise<RowsSource> {
  return new RowsSource(await FileReader.open(await sources.file(spec.path), spec), deps.intake, spec);
}

export async function openChroma(spec: ChromaSpec, { deps, sources }: Opening): Promise<RowsSource> {
  return new RowsSource(await chromaReader(spec, sources), deps.intake, spec);
}

export async function openVectorStore(spec: VectorStoreSpec, { deps, sources }: Opening): Promise<RowsSource> {
  const { kind, repository, user, trustgraph, collections } = spec;
  const owners = [repository, user, trustgraph].filter((one) => one !== undefined);
  if (owners.length !== 1) throw invalid('source: give one of "repository", "user" and "trustgraph".');
  if (trustgraph !== undefined && collections !== undefined)
    throw invalid(
      'source: "collections" names targets, which "trustgraph" derives from the names; omit some with "skip".',
    );
  const server = sources.server(spec.server, "server");
  const [database, rules] =
    kind === "qdrant"
      ? ([new QdrantDatabase(server), qdrantNames] as const)
      : ([new MilvusDatabase(server), milvusNames] as const);
  return new RowsSource(new VectorStoreReader(database, spec, rules), deps.intake, spec);
}

async function chromaReader(spec: ChromaSpec, sources: AllowedSources): Promise<RowReader> {
  if ((spec.repository === undefined) === (spec.user === undefined))
    throw invalid('source: give one of "repository" and "user".');
  if ((spec.folder === undefined) === (spec.server === undefined))
    throw invalid('source: give one of "folder" and "server".');
  if (spec.folder !== undefined) return new ChromaFolderReader(await sources.file(spec.folder), spec);
  return new ChromaServerReader(sources.server(spec.server as string, "server"), spec);
}
