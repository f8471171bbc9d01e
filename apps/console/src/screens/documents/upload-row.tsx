import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, CircleX, FileText, LoaderCircle } from "lucide-react";
import { repositoryOptions } from "../../api/collections.ts";
import { formatBytes } from "../../lib/format.ts";
import { shownName } from "../../lib/shown-name.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Progress } from "../../ui/progress.tsx";
import { documentLink } from "./links.ts";
import { isSharedType, sizeProblem } from "./upload-limits.ts";
import { cancelUpload, replaceUpload, retryUpload } from "./upload-queue.ts";
import type { Upload } from "./upload-store.ts";

const s = documentStrings.upload;

export function UploadRow({ upload }: { readonly upload: Upload }) {
  const { file, state, reason } = upload;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b py-2 text-sm last:border-b-0">
      <StateIcon state={state} />
      <div className="min-w-0 flex-1 basis-48">
        <p className="truncate" title={shownName(file.name)}>
          <span className="font-medium">
            <ShownName of={file.name} />
          </span>{" "}
          {/* The error of a file that is too large contains its size. */}
          {sizeProblem(file) === undefined && <span className="text-xs text-soft">{formatBytes(file.size)}</span>}
        </p>
        <p className={state === "failed" || state === "refused" ? "text-xs break-words text-bad" : "text-xs text-soft"}>
          {reason ?? wordsOf(upload)}
        </p>
        {state === "refused" && isSharedType(file.name) && <WhereTaken rid={upload.rid} />}
        <Bar upload={upload} />
      </div>
      <RowButtons upload={upload} />
    </li>
  );
}

/** Personal collections accept few types; links to collections that accept this one. */
function WhereTaken({ rid }: { readonly rid: string }) {
  const { personal } = useQuery(repositoryOptions(rid)).data ?? {};
  if (personal !== true) return null;
  return (
    <p className="text-xs">
      {s.sharedAccepts}{" "}
      <Link to="/collections" search={{ new: true }} className="text-brand underline">
        {s.createShared}
      </Link>
    </p>
  );
}

function RowButtons({ upload: { id, rid, cid, file, state, documentId } }: { readonly upload: Upload }) {
  const button = (label: string, act: (id: number) => void, look?: "quiet") => (
    <Button
      size="small"
      {...(look === undefined ? {} : { look })}
      aria-label={s.ofFile(label, file.name)}
      onClick={() => act(id)}
    >
      {label}
    </Button>
  );
  return (
    <div className="flex flex-wrap gap-1">
      {state === "exists" && button(s.replace, replaceUpload)}
      {state === "exists" && button(s.skip, cancelUpload, "quiet")}
      {(state === "failed" || state === "cancelled") && button(s.retry, retryUpload)}
      {(state === "waiting" || state === "sending") && button(s.cancel, cancelUpload, "quiet")}
      {documentId !== undefined && (
        <Link
          {...documentLink({ rid, cid, did: documentId })}
          className={buttonClass("quiet", "small")}
          aria-label={s.ofFile(s.open, file.name)}
        >
          {s.open}
        </Link>
      )}
    </div>
  );
}

/** Upload progress, then indexing progress. */
function Bar({ upload: { state, sent, progress, file } }: { readonly upload: Upload }) {
  const share =
    state === "sending"
      ? sent
      : state === "indexing" && progress && progress.total > 0
        ? progress.done / progress.total
        : undefined;
  if (share === undefined) return null;
  return <Progress done={share} total={1} label={s.progress(file.name)} />;
}

function StateIcon({ state }: { readonly state: Upload["state"] }) {
  if (state === "indexed") return <CircleCheck className="size-4 shrink-0 text-good" aria-hidden />;
  if (state === "failed" || state === "refused")
    return <CircleAlert className="size-4 shrink-0 text-bad" aria-hidden />;
  if (state === "exists") return <CircleAlert className="size-4 shrink-0 text-warn" aria-hidden />;
  if (state === "cancelled") return <CircleX className="size-4 shrink-0 text-soft" aria-hidden />;
  if (state === "waiting") return <FileText className="size-4 shrink-0 text-soft" aria-hidden />;
  return <LoaderCircle className="size-4 shrink-0 animate-spin text-brand" aria-hidden />;
}

const percent = 100;

function wordsOf({ state, sent, progress, started = false }: Upload): string {
  if (state === "sending") return sent < 1 ? s.sending(Math.floor(sent * percent)) : s.sent;
  if (state === "indexing")
    return progress && progress.total > 0
      ? s.indexingOf(progress.done, progress.total)
      : started
        ? s.indexing
        : s.pending;
  return s[state];
}
