/**
 * Names of an export's tables, buckets and folders (R-LISA-03, R-KB-01, R-KB-36), with the environment variables of the reference projects:
 *
 *   LISA_RAG_COLLECTIONS_TABLE   LisaRagCollectionsTable
 *   RAG_DOCUMENT_TABLE           LisaRagDocumentTable
 *   LISA_RAG_VECTOR_STORE_TABLE  LisaRagVectorStoreTable
 *   LISA_RAG_BUCKET              lisa-rag-documents
 *   KB_PROJECT                   pinakes                   → the table {project}-kb-catalog
 *   KB_ACCOUNT, KB_REGION        000000000000, local       → the bucket {project}-kb-docs-{account}-{region}
 */
import { invalid, show } from "../domain/errors.ts";

export interface TransferNames {
  readonly collectionsTable: string;
  readonly documentsTable: string;
  readonly storesTable: string;
  /** The bucket of shared repositories. */
  readonly bucket: string;
  readonly project: string;
  readonly account: string;
  readonly region: string;
}

export const defaultNames: TransferNames = Object.freeze({
  collectionsTable: "LisaRagCollectionsTable",
  documentsTable: "LisaRagDocumentTable",
  storesTable: "LisaRagVectorStoreTable",
  bucket: "lisa-rag-documents",
  project: "pinakes",
  account: "000000000000",
  region: "local",
});

const variables: Readonly<Record<keyof TransferNames, string>> = {
  collectionsTable: "LISA_RAG_COLLECTIONS_TABLE",
  documentsTable: "RAG_DOCUMENT_TABLE",
  storesTable: "LISA_RAG_VECTOR_STORE_TABLE",
  bucket: "LISA_RAG_BUCKET",
  project: "KB_PROJECT",
  account: "KB_ACCOUNT",
  region: "KB_REGION",
};

/** An empty variable counts as unset. */
export function readTransferNames(env: Readonly<Record<string, string | undefined>>): TransferNames {
  const entries = Object.entries(variables) as [keyof TransferNames, string][];
  return checkNames(
    Object.fromEntries(entries.map(([name, variable]) => [name, env[variable] || undefined])),
    (name) => variables[name],
  );
}

/** Fills in the defaults. A name is a single path segment, so it cannot lead elsewhere. */
export function checkNames(
  overrides: { readonly [Name in keyof TransferNames]?: string | undefined },
  called: (name: keyof TransferNames) => string = (name) => name,
): TransferNames {
  const entries = (Object.keys(defaultNames) as (keyof TransferNames)[]).map((name) => {
    const value = overrides[name] ?? defaultNames[name];
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/.test(value))
      throw invalid(
        `${called(name)}: must have 1–128 letters, digits, ".", "_" or "-", and not start with ".", got ${show(value)}.`,
      );
    return [name, value] as const;
  });
  return Object.fromEntries(entries) as unknown as TransferNames;
}

export function catalogTable({ project }: TransferNames): string {
  return `${project}-kb-catalog`;
}

export function catalogBucket({ project, account, region }: TransferNames): string {
  return `${project}-kb-docs-${account}-${region}`;
}

const tablesFolder = "tables";
export const definitionsFolder = "definitions";

export function tablePath(table: string, gzip: boolean): string {
  return `${tablesFolder}/${table}.jsonl${gzip ? ".gz" : ""}`;
}

/**
 * Whether a file contains items: at the top, directly in `tables/`, or a data file of DynamoDB's own export to S3. Everything else is an
 * object, whatever its name: documents may be called *.jsonl too.
 */
export function isTablePath(path: string): boolean {
  if (!/\.(?:jsonl|ndjson|json)(?:\.gz)?$/i.test(path)) return false;
  const parts = path.split("/");
  if (parts.length === 1 || (parts.length === 2 && parts[0] === tablesFolder)) return true;
  return parts.length >= 4 && parts.at(-2) === "data" && parts.at(-4) === "AWSDynamoDB";
}
