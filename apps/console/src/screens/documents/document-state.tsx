/** The document's indexing state; nothing if it is indexed. */
import type { Document } from "@pinakes/client";
import { documentStrings } from "../../strings/documents.ts";
import { Progress } from "../../ui/progress.tsx";

const s = documentStrings.page;

export function DocumentState({
  document: { status, error, attempts, live_version, progress },
}: {
  readonly document: Document;
}) {
  if (status === "indexed") return null;
  if (status === "failed")
    return (
      <div role="alert" className="rounded-lg bg-bad-soft p-4 text-sm">
        <p className="font-medium text-bad">{live_version === null ? s.failed : s.reindexFailed}</p>
        <p className="break-words">{error}</p>
        <p className="text-soft">{s.attempts(attempts)}</p>
      </div>
    );
  return (
    <div role="status" className="rounded-lg bg-brand-soft p-4 text-sm">
      <p>{live_version === null ? s.indexing : s.reindexing}</p>
      {progress !== null && progress !== undefined && progress.total > 0 && (
        <>
          <p>{documentStrings.list.progress(progress.done, progress.total)}</p>
          <Progress {...progress} label={documentStrings.upload.indexing} />
        </>
      )}
    </div>
  );
}
