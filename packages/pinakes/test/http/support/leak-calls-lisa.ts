/** How the operations of the LISA facade are called against somebody else's things. */
import type { HowToCall, Target } from "./leak-calls.ts";

const thing: HowToCall = { kind: "thing" };
const free: HowToCall = { kind: "free" };
const withBody = (body: (target: Target) => unknown, more: Partial<HowToCall> = {}): HowToCall => ({
  kind: "thing",
  body,
  ...more,
});
/** The collection is named beside the path. */
const inCollection = { query: ({ cid }: Target) => `collectionId=${cid}`, ofCollection: true } as const;

/** Both spellings of the path. */
function both(name: string, calls: readonly HowToCall[]): Readonly<Record<string, readonly HowToCall[]>> {
  return { [name]: calls, [`${name}Alias`]: calls };
}

export const howToCallLisa: Readonly<Record<string, readonly HowToCall[]>> = {
  lisaListRepositories: [{ kind: "list" }],
  lisaRepositoryStatus: [{ kind: "admin" }],
  lisaCreateRepository: [{ kind: "admin", body: () => ({ repositoryId: "fresh-lisa", type: "pgvector" }) }],
  lisaGetRepository: [thing],
  lisaUpdateRepository: [withBody(() => ({ description: "taken over" }))],
  lisaDeleteRepository: [thing],
  lisaPresignedUrl: [{ ...free, body: () => "intruder.txt", contentType: "application/x-www-form-urlencoded" }],
  lisaUpload: [{ kind: "public", body: () => uploadForm() }],
  lisaIngest: [withBody(({ cid }) => ({ keys: ["intruder.txt"], collectionId: cid }), { ofCollection: true })],
  ...both("lisaListCollections", [thing, { ...thing, query: () => "statusFilter=deleted&filterText=a&page=1" }]),
  lisaListAllCollections: [{ kind: "list" }, { kind: "list", query: () => "sortBy=name&sortOrder=asc&filter=a" }],
  ...both("lisaCreateCollection", [withBody(() => ({ name: "Intruder" }))]),
  ...both("lisaGetCollection", [thing]),
  ...both("lisaUpdateCollection", [
    withBody(() => ({ description: "taken over", private: false })),
    withBody(() => ({ status: "ACTIVE" })),
  ]),
  ...both("lisaDeleteCollection", [thing]),
  lisaListDocuments: [thing, { ...thing, ...inCollection }],
  lisaDeleteDocuments: [
    withBody(({ did }) => ({ documentIds: [did] }), inCollection),
    withBody(({ did }) => ({ documentIds: [did] }), { ofCollection: true }),
    { ...thing, ofCollection: true, query: ({ cid }) => `collectionId=${cid}&documentName=plans.txt` },
  ],
  lisaGetDocument: [{ ...thing, ofCollection: true }],
  lisaDownloadDocument: [{ ...thing, ofCollection: true }],
  lisaListJobs: [thing, { ...thing, query: () => "timeLimit=24&pageSize=1" }],
  lisaSimilaritySearch: [
    { ...thing, ofCollection: true, query: ({ cid }) => `query=plans+of+the+vault&collectionId=${cid}&score=true` },
    { kind: "odd", query: () => "query=plans&modelName=all-MiniLM-L6-v2&searchMode=keyword" },
  ],
  lisaListModels: [free],
  lisaConfiguration: [free],
  lisaListSessions: [free],
  lisaListKnowledgeBases: [free],
  lisaListDataSources: [thing],
};

function uploadForm(): FormData {
  const form = new FormData();
  form.append("key", "intruder.txt");
  form.append("x-amz-signature", "A".repeat(43));
  form.append("file", new Blob(["intruded"]), "intruder.txt");
  return form;
}
