/** Which sources pipelines may read: only what the server's operator lists, so that no user can read the server's disk or other buckets. */
import { resolve } from "node:path";
import { PinakesError } from "../domain/errors.ts";
import type { SourceEvents, SourceReader } from "../ports/source-reader.ts";
import { FolderReader, isInside } from "./folder-reader.ts";
import { asFolder, sourceText, type Source } from "./source.ts";

export interface AllowedFolder {
  readonly path: string;
  /** Workspaces whose pipelines may read it; all when absent. */
  readonly tenants?: readonly string[] | undefined;
}

export interface AllowedBucket {
  readonly bucket: string;
  /** Only objects below this prefix. */
  readonly prefix?: string | undefined;
  readonly tenants?: readonly string[] | undefined;
  /** Reads objects below a prefix, which is "" or ends with "/". */
  readonly reader: (prefix: string) => Promise<SourceReader>;
}

export interface PipelineLocations {
  readonly folders?: readonly AllowedFolder[] | undefined;
  readonly buckets?: readonly AllowedBucket[] | undefined;
  /** Receives the buckets' events. */
  readonly events?: (() => Promise<SourceEvents>) | undefined;
}

export class AllowedLocations {
  readonly events: (() => Promise<SourceEvents>) | undefined;
  readonly #folders: readonly AllowedFolder[];
  readonly #buckets: readonly AllowedBucket[];

  constructor({ folders = [], buckets = [], events }: PipelineLocations = {}) {
    this.events = events;
    this.#folders = folders.map((location) => ({ ...location, path: resolve(location.path) }));
    this.#buckets = buckets.map((location) => ({ ...location, prefix: asFolder(location.prefix ?? "") }));
  }

  get haveFolders(): boolean {
    return this.#folders.length > 0;
  }

  get haveAny(): boolean {
    return this.haveFolders || this.#buckets.length > 0;
  }

  /** FORBIDDEN if the operator has not allowed the source for this workspace. */
  async open(tenant: string, source: Source): Promise<SourceReader> {
    if (source.kind === "file") {
      const folders = this.#folders.filter((location) => isFor(tenant, location)).map(({ path }) => path);
      if (!folders.some((folder) => isInside(source.path, folder))) throw this.#refused(tenant, source);
      return new FolderReader(source.path, folders);
    }
    const location = this.#buckets.find(
      (candidate) =>
        isFor(tenant, candidate) &&
        candidate.bucket === source.bucket &&
        source.prefix.startsWith(candidate.prefix ?? ""),
    );
    if (location === undefined) throw this.#refused(tenant, source);
    return location.reader(source.prefix);
  }

  #refused(tenant: string, source: Source): PinakesError {
    const open = [
      ...this.#folders.filter((location) => isFor(tenant, location)).map(({ path }) => `file:${path}`),
      ...this.#buckets
        .filter((location) => isFor(tenant, location))
        .map(({ bucket, prefix }) => `s3://${bucket}/${prefix}`),
    ];
    const there =
      open.length === 0
        ? "None are allowed; ask the operator (pipelineFolders, pipelineBuckets)."
        : `Allowed are ${open.join(", ")}.`;
    return new PinakesError(
      "FORBIDDEN",
      `source: the operator of this server has not allowed ${sourceText(source)} for pipelines. ${there}`,
    );
  }
}

function isFor(tenant: string, { tenants }: { readonly tenants?: readonly string[] | undefined }): boolean {
  return tenants === undefined || tenants.includes(tenant);
}
