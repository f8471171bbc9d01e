import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse";
import { invalid, PinakesError } from "../../domain/errors.ts";
import type { AllowedSources } from "../allowed-sources.ts";
import type { MigrationDependencies } from "../dependencies.ts";
import { migrationLimits } from "../limits.ts";
import { CassandraTables } from "./cassandra-tables.ts";
import { PostgresTables } from "./postgres-tables.ts";
import type { TriplesSpec } from "./spec.ts";
import { SqliteTables } from "./sqlite-tables.ts";
import { StagedTables, type TableLoader } from "./staged-tables.ts";
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

/** Tables of triples as CSV files, one per table: the output of `cqlsh COPY … TO` from Cassandra. */
class CsvTables extends StagedTables {
  async tables(): Promise<readonly string[]> {
    const names = await readdir(this.location).catch((error: unknown) => {
      throw new PinakesError("NOT_FOUND", `${this.location}: is not a readable folder: ${(error as Error).message}.`, {
        cause: error,
      });
    });
    const found = names.filter((name) => name.endsWith(".csv")).map((name) => name.slice(0, -4));
    if (found.length === 0) throw invalid(`${this.location}: has no file that ends in .csv.`);
    return found.toSorted();
  }

  protected nameOf(table: string): string {
    return `${this.location}/${table}.csv`;
  }

  protected async read(table: string, loader: TableLoader): Promise<void> {
    if (this.spec.csv_columns !== undefined) loader.setColumns(this.spec.csv_columns);
    for await (const record of this.#records(table)) {
      loader.at += 1;
      requireShort(record, `${this.nameOf(table)} row ${loader.at}`);
      if (loader.columns === undefined) loader.setColumns(record);
      else loader.row(record);
    }
  }

  async *#records(table: string): AsyncGenerator<string[]> {
    const parser = parse({
      bom: true,
      escape: this.spec.csv_escape ?? "\\",
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: migrationLimits.lineCharsMax,
    });
    const file = createReadStream(join(this.location, `${table}.csv`), { highWaterMark: 1_048_576 });
    file.on("error", (error) => parser.destroy(error));
    yield* file.pipe(parser) as AsyncIterable<string[]>;
  }
}

/** The parser's own limit bounds its memory, but is not exact. */
function requireShort(record: readonly string[], where: string): void {
  if (record.reduce((chars, cell) => chars + cell.length, 0) <= migrationLimits.lineCharsMax) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `${where}: has more than ${migrationLimits.lineCharsMax} characters; leave the row out, or shorten it.`,
  );
}
