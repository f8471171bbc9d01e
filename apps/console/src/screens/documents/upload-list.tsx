/** Uploads with progress, those with problems first. */
import type { CollectionId } from "../../api/collections.ts";
import { formatNumber } from "../../lib/format.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { cancelUpload, clearUploads, replaceUpload, retryUpload } from "./upload-queue.ts";
import { UploadRow } from "./upload-row.tsx";
import { isOver, isProblem, useUploads, type Upload } from "./upload-store.ts";

const s = documentStrings.upload;
/** Further uploads are only counted until earlier ones finish. */
const shownMax = 50;

/** Of one collection or all, with or without a frame. */
export function UploadList({ of, bare = false }: { readonly of?: CollectionId; readonly bare?: boolean }) {
  const uploads = useUploads().filter(({ rid, cid }) => of === undefined || (of.rid === rid && of.cid === cid));
  if (uploads.length === 0) return null;
  const ordered = uploads.toSorted((a, b) => rank(a) - rank(b));
  const summary = s.summary(
    uploads.filter(({ state }) => state === "indexed" || state === "cancelled").length,
    uploads.length,
    uploads.filter(isProblem).length,
  );
  const list = (
    <>
      <p role="status" className="mb-2 text-sm text-soft">
        {summary}
      </p>
      <ul className="flex max-h-96 flex-col overflow-y-auto">
        {ordered.slice(0, shownMax).map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
      {ordered.length > shownMax && (
        <p className="pt-2 text-sm text-soft">{s.hidden(formatNumber(ordered.length - shownMax))}</p>
      )}
    </>
  );
  if (bare) return <div className="mt-2">{list}</div>;
  return (
    <Panel title={s.label} actions={<AllButtons uploads={uploads} />}>
      {list}
    </Panel>
  );
}

function AllButtons({ uploads }: { readonly uploads: readonly Upload[] }) {
  const existing = uploads.filter(({ state }) => state === "exists");
  const failed = uploads.filter(({ state }) => state === "failed");
  const going = uploads.filter(({ state }) => state === "waiting" || state === "sending");
  return (
    <>
      {existing.length > 1 && (
        <Button size="small" onClick={() => existing.forEach(({ id }) => replaceUpload(id))}>
          {s.replaceAll(existing.length)}
        </Button>
      )}
      {failed.length > 1 && (
        <Button size="small" onClick={() => failed.forEach(({ id }) => retryUpload(id))}>
          {s.retryAll(failed.length)}
        </Button>
      )}
      {going.length > 1 && (
        <Button size="small" onClick={() => going.forEach(({ id }) => cancelUpload(id))}>
          {s.cancelAll}
        </Button>
      )}
      {uploads.some(isOver) && (
        <Button size="small" look="quiet" onClick={() => clearUploads(uploads)}>
          {s.clear}
        </Button>
      )}
    </>
  );
}

function rank(upload: Upload): number {
  if (isProblem(upload)) return 0;
  return { sending: 1, indexing: 2, waiting: 3, indexed: 4, cancelled: 5, exists: 0, refused: 0, failed: 0 }[
    upload.state
  ];
}
