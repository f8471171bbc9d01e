/** The API calls of the page, each with a curl command. */
import { Code } from "lucide-react";
import { useState } from "react";
import { curlOf, useCalls, type Call } from "../api/calls.ts";
import { formatMs } from "../lib/format.ts";
import { shellStrings } from "../strings/shell.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Empty } from "../ui/states.tsx";

const s = shellStrings.calls;

export function CallsButton() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        <Code aria-hidden />
        <span className="hidden sm:inline">{s.open}</span>
        <span className="sr-only sm:hidden">{s.open}</span>
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={s.title} about={s.about} place="side">
        <Calls />
      </Dialog>
    </>
  );
}

function Calls() {
  const calls = useCalls();
  if (calls.length === 0) return <Empty title={s.nothing} />;
  return (
    <ul className="flex flex-col gap-3">
      {calls.map((call) => (
        <li key={call.id} className="rounded-md border p-3">
          <div className="flex flex-wrap items-center gap-2">
            <Badge tone="brand">{call.method}</Badge>
            <code className="min-w-0 flex-1 font-mono text-xs break-all">{call.path}</code>
            <Outcome call={call} />
            <CopyButton text={curlOf(call, location.origin)} label={s.curl} />
          </div>
          {call.body !== undefined && (
            <pre className="mt-2 max-h-40 overflow-auto rounded bg-raised p-2 font-mono text-xs break-all whitespace-pre-wrap">
              {call.body}
            </pre>
          )}
        </li>
      ))}
    </ul>
  );
}

function Outcome({ call: { status, ms } }: { readonly call: Call }) {
  if (status === undefined) return <Badge>{s.pending}</Badge>;
  if (status === 0) return <Badge tone="bad">{s.noAnswer}</Badge>;
  return <Badge tone={status < 400 ? "good" : "bad"}>{`${status} · ${formatMs(ms ?? 0)}`}</Badge>;
}
