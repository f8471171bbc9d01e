/** Placeholders for loading, empty and error states. */
import { CircleAlert, LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { isProblem, NotSentError, ProblemError, UnreachableError } from "../api/problem.ts";
import { stateStrings as s } from "../strings/states.ts";
import { Button } from "./button.tsx";

export function Loading({ what }: { readonly what?: string }) {
  return (
    <div role="status" className="flex items-center justify-center gap-2 p-8 text-sm text-soft">
      <LoaderCircle className="size-4 animate-spin" aria-hidden />
      {what ?? s.loading}
    </div>
  );
}

/** What a query shows before it has data. */
export function Pending({
  of: { error, refetch },
  what,
}: {
  readonly of: { readonly error: unknown; readonly refetch: () => Promise<unknown> };
  readonly what?: string;
}) {
  if (error === null) return <Loading {...(what === undefined ? {} : { what })} />;
  return <ErrorBox error={error} onRetry={() => void refetch()} />;
}

export function Empty({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-2 p-8 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <p className="max-w-prose text-sm text-soft">{children}</p>}
      {action}
    </div>
  );
}

export function ErrorBox({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const requestId = error instanceof ProblemError ? error.problem.request_id : undefined;
  return (
    <div role="alert" className="flex items-start gap-3 rounded-lg border border-transparent bg-bad-soft p-4 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-bad">{titleOf(error)}</p>
        <p className="break-words">{messageOf(error)}</p>
        {requestId !== undefined && <p className="mt-1 font-mono text-xs text-soft">{s.requestId(requestId)}</p>}
      </div>
      {onRetry !== undefined && (
        <Button size="small" onClick={onRetry}>
          {s.retry}
        </Button>
      )}
    </div>
  );
}

export function messageOf(error: unknown): string {
  if (error instanceof NotSentError) return s.notSent;
  if (error instanceof UnreachableError) return s.unreachable;
  return error instanceof Error ? error.message : String(error);
}

function titleOf(error: unknown): string {
  if (error instanceof UnreachableError) return s.unreachableTitle;
  if (isProblem(error, 404)) return s.notFound;
  if (isProblem(error, 403)) return s.forbidden;
  if (isProblem(error, 409) || isProblem(error, 412)) return s.conflict;
  return s.failed;
}
