/** Processes all current dead letters of a queue one by one, and can be stopped. */
import type { DeadLetter } from "@pinakes/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { queuesKey, settleDeadLetter, type DeadAction } from "../../api/queues.ts";
import { formatNumber } from "../../lib/format.ts";
import { queueStrings } from "../../strings/queues.ts";
import { uiStrings } from "../../strings/ui.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Progress } from "../../ui/progress.tsx";
import { ErrorBox } from "../../ui/states.tsx";

const s = queueStrings.dead;

interface Props {
  readonly queue: string;
  readonly action: DeadAction;
  readonly letters: readonly DeadLetter[];
  readonly onClose: () => void;
}

interface Run {
  readonly state: "asking" | "running" | "stopped" | "finished";
  readonly done: number;
  readonly failed: number;
  readonly error: unknown;
}

export function SettleAll({ queue, action, letters, onClose }: Props) {
  const { run, start, stop } = useRun(queue, action, letters);
  const count = formatNumber(letters.length);
  return (
    <Dialog open onClose={onClose} title={s.allTitle[action](count)} about={s.allAbout[action]}>
      <div className="flex flex-col gap-4">
        {run.state !== "asking" && <Course run={run} total={letters.length} />}
        {run.error !== undefined && <ErrorBox error={run.error} />}
        <div className="flex justify-end gap-2">
          {run.state === "asking" && <Button onClick={onClose}>{uiStrings.cancel}</Button>}
          {run.state === "asking" && (
            <Button look={action === "discard" ? "danger" : "main"} onClick={start}>
              {action === "discard" ? s.discardAll : s.redriveAll}
            </Button>
          )}
          {run.state === "running" && <Button onClick={stop}>{s.stop}</Button>}
          {(run.state === "stopped" || run.state === "finished") && <Button onClick={onClose}>{s.close}</Button>}
        </div>
      </div>
    </Dialog>
  );
}

function Course({ run: { state, done, failed }, total }: { readonly run: Run; readonly total: number }) {
  const words = s.progress(formatNumber(done), formatNumber(total));
  return (
    <div role="status" className="text-sm">
      <Progress done={done} total={total} label={words} />
      <p>
        {words}. {state === "finished" && s.finished} {state === "stopped" && s.stopped}
      </p>
      {failed > 0 && <p className="text-bad">{s.failed(formatNumber(failed))}</p>}
    </div>
  );
}

/** Continues after a failure: failures are counted, and the last error is shown. */
function useRun(queue: string, action: DeadAction, letters: readonly DeadLetter[]) {
  const client = useQueryClient();
  const [run, setRun] = useState<Run>({ state: "asking", done: 0, failed: 0, error: undefined });
  const stopped = useRef(false);
  // Leaving the page stops it, too.
  useEffect(() => {
    stopped.current = false;
    return () => void (stopped.current = true);
  }, []);
  const start = async () => {
    setRun((old) => ({ ...old, state: "running" }));
    for (const { dead_id } of letters) {
      if (stopped.current) break;
      try {
        await settleDeadLetter(queue, dead_id, action);
        setRun((old) => ({ ...old, done: old.done + 1 }));
      } catch (error) {
        setRun((old) => ({ ...old, failed: old.failed + 1, error }));
      }
    }
    await client.invalidateQueries({ queryKey: queuesKey });
    setRun((old) => ({ ...old, state: stopped.current ? "stopped" : "finished" }));
  };
  return { run, start: () => void start(), stop: () => void (stopped.current = true) };
}
