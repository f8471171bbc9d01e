/** Erasures with their receipts, legal holds, and exports of what is held about a subject. */
import type {
  Erasure,
  ErasureReceipt,
  ErasureSubject,
  ErasureVerification,
  LegalHold,
  NewErasure,
  NewLegalHold,
  NewSubjectExport,
  RetentionPreview,
  RetentionRule,
  SubjectExport,
} from "@pinakes/client";
import { queryOptions } from "@tanstack/react-query";
import { pagedOptions } from "./page.ts";
import { get, path, post, request } from "./request.ts";

const againMs = 1_500;

export const erasureListKey = ["erasure-list"] as const;
export const erasureListOptions = pagedOptions<Erasure>(erasureListKey, "/v1/erasures");

export function hasEnded({ state }: Pick<Erasure, "state">): boolean {
  return state === "done_live" || state === "counted" || state === "held";
}

/** While one of them has not ended. */
export function erasuresAgainMs(shown: readonly Erasure[] | undefined): number | false {
  return shown?.every(hasEnded) === false ? againMs : false;
}

export function erasureOptions(id: string) {
  return queryOptions({
    queryKey: ["erasures", id],
    queryFn: ({ signal }) => get<Erasure>(path`/v1/erasures/${id}`, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && hasEnded(state.data) ? false : againMs),
  });
}

export function receiptOptions(id: string) {
  return queryOptions({
    queryKey: ["erasures", id, "receipt"],
    queryFn: ({ signal }) => get<ErasureReceipt>(path`/v1/erasures/${id}/receipt`, { signal }),
  });
}

export function requestErasure(input: NewErasure): Promise<Erasure> {
  return post<Erasure>("/v1/erasures", input);
}

export function verifyErasure(id: string, subject: ErasureSubject): Promise<ErasureVerification> {
  return post<ErasureVerification>(`${path`/v1/erasures/${id}`}:verify`, { subject });
}

export const holdsKey = ["legal-holds"] as const;
export const holdsOptions = queryOptions({
  queryKey: holdsKey,
  queryFn: async ({ signal }) =>
    (await get<{ readonly items: readonly LegalHold[] }>("/v1/legal-holds", { signal })).items,
});

export function createHold(input: NewLegalHold): Promise<LegalHold> {
  return post<LegalHold>("/v1/legal-holds", input);
}

export async function releaseHold(id: string): Promise<void> {
  await request("DELETE", path`/v1/legal-holds/${id}`);
}

export const subjectExportsKey = ["subject-exports"] as const;
export const subjectExportsOptions = pagedOptions<SubjectExport>(subjectExportsKey, "/v1/subject-exports");

/** While one of them is being written. */
export function exportsAgainMs(shown: readonly SubjectExport[] | undefined): number | false {
  return shown?.some(({ state }) => state === "queued" || state === "running") === true ? againMs : false;
}

export function requestSubjectExport(input: NewSubjectExport): Promise<SubjectExport> {
  return post<SubjectExport>("/v1/subjects:export", input);
}

export async function deleteSubjectExport(id: string): Promise<void> {
  await request("DELETE", path`/v1/subject-exports/${id}`);
}

/** Downloaded by the browser, which continues after an interruption. */
export function exportPartAddress(id: string, part: number): string {
  return path`/v1/subject-exports/${id}/parts/${String(part)}`;
}

export const retentionKey = ["retention"] as const;
export const retentionOptions = queryOptions({
  queryKey: retentionKey,
  queryFn: async ({ signal }) =>
    (await get<{ readonly items: readonly RetentionRule[] }>("/v1/retention", { signal })).items,
});

export function previewRetention(name: string, seconds: number | null): Promise<RetentionPreview> {
  return post<RetentionPreview>("/v1/retention:preview", { name, seconds });
}

export async function applyRetention({ name, seconds, confirmation }: RetentionPreview): Promise<void> {
  await request("PUT", path`/v1/retention/${name}`, { body: { seconds, confirmation } });
}
