import { invalid } from "../../domain/errors.ts";
import type { MigrationDependencies } from "../dependencies.ts";
import type { AllowedSources } from "../allowed-sources.ts";
import { CassandraTables } from "./cassandra-tables.ts";
import { CsvTables } from "./csv-tables.ts";
import { PostgresTables } from "./postgres-tables.ts";
import { SqliteTables } from "./sqlite-tables.ts";
import type { TriplesSpec } from "./spec.ts";
import type { LegacyTables } from "./tables.ts";
import { TriplesSource } from "./triples-source.ts";

export async function openTriples(
  spec: TriplesSpec,
  { deps, sources }: { readonly deps: MigrationDependencies; readonly sources: AllowedSources },
): Promise<TriplesSource> {
  return new TriplesSource(spec, await tablesOf(spec, sources), deps.triples);
}

async function tablesOf(spec: TriplesSpec, sources: AllowedSources): Promise<LegacyTables> {
  const { sqlite, postgres, cassandra, csv } = spec;
  if ([sqlite, postgres, cassandra, csv].filter((one) => one !== undefined).length !== 1)
    throw invalid('source: give one of "sqlite", "postgres", "cassandra" and "csv".');
  if (sqlite !== undefined) return new SqliteTables(await sources.file(sqlite));
  if (csv !== undefined) return new CsvTables(await sources.file(csv), spec);
  if (cassandra !== undefined) return new CassandraTables(sources.cassandra(cassandra, "cassandra"), spec);
  return new PostgresTables(sources.postgres(postgres as string, "postgres"), spec.schema);
}
