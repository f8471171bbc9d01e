/** Governance as programs use it, over any GovernanceApi: lists that are iterated, erasures and exports that can be waited for. */
import type {
  ErasuresApi,
  GovernanceApi,
  HoldsApi,
  ReceiptsApi,
  RetentionApi,
  SubjectExportsApi,
} from "./api/governance-api.ts";
import type { Paging } from "./contract/common.ts";
import type { Erasure, ErasureReceipt, SubjectExport, SubjectExportPart } from "./contract/governance.ts";
import { clientError } from "./errors.ts";
import { extend } from "./sugar/extend.ts";
import { listing, type Listing } from "./sugar/listing.ts";
import { polled } from "./waiting.ts";

interface Waiting<State> {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((state: State) => void) | undefined;
}

export interface ErasuresClient extends Omit<ErasuresApi, "list"> {
  list(query?: Paging): Listing<Erasure>;
  /** Resolves when it is `done_live`, `held` or `counted`. It is tried again until then, so it does not fail. */
  wait(erasureId: string, options?: Waiting<Erasure>): Promise<Erasure>;
}

export interface ReceiptsClient extends Omit<ReceiptsApi, "list"> {
  list(query?: Paging): Listing<ErasureReceipt>;
  /** The receipt chain of the workspace as text: one JWS per line, oldest first. `pinakes receipts verify` checks it without a server. */
  export(): Promise<string>;
}

/** An archive of an export, with its bytes. */
export interface DownloadedPart extends SubjectExportPart {
  readonly body: ReadableStream<Uint8Array>;
}

export interface SubjectExportsClient extends Omit<SubjectExportsApi, "list"> {
  list(query?: Paging): Listing<SubjectExport>;
  /** Resolves when its archives can be downloaded; rejects with the reason when it failed. */
  wait(exportId: string, options?: Waiting<SubjectExport>): Promise<SubjectExport>;
  /** All archives of a finished export, in sequence. Read each body before the next. */
  parts(exportId: string, options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<DownloadedPart>;
}

export interface GovernanceClient {
  readonly retention: RetentionApi;
  readonly erasures: ErasuresClient;
  readonly receipts: ReceiptsClient;
  readonly holds: HoldsApi;
  readonly subjectExports: SubjectExportsClient;
}

export function createGovernanceClient(api: GovernanceApi): GovernanceClient {
  const { erasures, receipts, holds, subjectExports, retention } = api;
  const receiptsOf = (query?: Paging): Listing<ErasureReceipt> =>
    listing((paging) => receipts.list({ ...query, ...paging }), query);
  return {
    erasures: extend(erasures, {
      list: (query?: Paging) => listing((paging) => erasures.list({ ...query, ...paging }), query),
      wait: (erasureId: string, options?: Waiting<Erasure>) => waitForErasure(erasures, erasureId, options),
    }),
    receipts: extend(receipts, {
      list: receiptsOf,
      export: async () => (await receiptsOf().all()).map(({ jws }) => `${jws}\n`).join(""),
    }),
    holds,
    retention,
    subjectExports: extend(subjectExports, {
      list: (query?: Paging) => listing((paging) => subjectExports.list({ ...query, ...paging }), query),
      wait: (exportId: string, options?: Waiting<SubjectExport>) => waitForExport(subjectExports, exportId, options),
      parts: (exportId: string, options?: { readonly signal?: AbortSignal | undefined }) =>
        partsOf(subjectExports, exportId, options),
    }),
  };
}

const endedErasures: ReadonlySet<string> = new Set<Erasure["state"]>(["done_live", "held", "counted"]);

export async function waitForErasure(
  api: Pick<ErasuresApi, "get">,
  erasureId: string,
  { signal, onProgress }: Waiting<Erasure> = {},
): Promise<Erasure> {
  return polled(
    () => api.get(erasureId),
    signal,
    (erasure) => {
      if (endedErasures.has(erasure.state)) return true;
      onProgress?.(erasure);
      return false;
    },
  );
}

export async function waitForExport(
  api: Pick<SubjectExportsApi, "get">,
  exportId: string,
  { signal, onProgress }: Waiting<SubjectExport> = {},
): Promise<SubjectExport> {
  const ended = await polled(
    () => api.get(exportId),
    signal,
    (one) => {
      if (one.state === "ready" || one.state === "failed") return true;
      onProgress?.(one);
      return false;
    },
  );
  if (ended.state === "ready") return ended;
  const detail = `The subject export ${exportId} failed: ${ended.error ?? "no reason was recorded"}`;
  throw clientError({ code: "FAILED", status: 0, detail });
}

async function* partsOf(
  api: SubjectExportsApi,
  exportId: string,
  options?: { readonly signal?: AbortSignal | undefined },
): AsyncGenerator<DownloadedPart, void> {
  const { parts, state } = await api.get(exportId);
  if (state !== "ready")
    throw clientError({
      code: "CONFLICT",
      status: 409,
      detail: `The subject export ${exportId} is ${state}: it has no archives. Wait until it is ready.`,
    });
  for (const part of parts) yield { ...part, body: await api.part(exportId, part.part, options) };
}
