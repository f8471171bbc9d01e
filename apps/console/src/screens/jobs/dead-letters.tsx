/** Dead letters of a queue: redrive or discard, one or all. */
import type { DeadLetter } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type DeadAction, deadLettersOptions, queuesKey, settleDeadLetter } from "../../api/queues.ts";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { queueStrings } from "../../strings/queues.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Empty } from "../../ui/states.tsx";
import { toast, toastError } from "../../ui/toast.tsx";
import { deadColumns } from "./dead-columns.tsx";
import { SettleAll } from "./settle-all.tsx";

const s = queueStrings.dead;

type Asked =
  | { readonly what: "discard" | "show"; readonly letter: DeadLetter }
  | { readonly what: "all"; readonly action: DeadAction; readonly letters: readonly DeadLetter[] };

export function DeadLetters({ queue }: { readonly queue: string }) {
  const [asked, setAsked] = useState<Asked>();
  const { data, error, refetch } = useQuery(deadLettersOptions(queue));
  const settling = useSettle(queue, () => setAsked(undefined));
  const columns = deadColumns({
    pending: settling.isPending ? settling.variables.letter.dead_id : undefined,
    onRedrive: (letter) => settling.mutate({ letter, action: "redrive" }),
    onDiscard: (letter) => setAsked({ what: "discard", letter }),
  });
  const all = (action: DeadAction) => setAsked({ what: "all", action, letters: data ?? [] });
  const none = data === undefined || data.length === 0;
  return (
    <Panel
      title={s.title(queue)}
      actions={
        <>
          <Button size="small" disabled={none} onClick={() => all("redrive")}>
            {s.redriveAll}
          </Button>
          <Button size="small" look="danger" disabled={none} onClick={() => all("discard")}>
            {s.discardAll}
          </Button>
        </>
      }
    >
      <DataTable
        label={s.table}
        columns={columns}
        items={data}
        rowId={({ dead_id }) => dead_id}
        onOpen={(letter) => setAsked({ what: "show", letter })}
        error={data === undefined ? error : undefined}
        onRetry={() => void refetch()}
        empty={<Empty title={s.empty}>{s.emptyAbout}</Empty>}
      />
      {asked?.what === "show" && <DeadLetterSheet letter={asked.letter} onClose={() => setAsked(undefined)} />}
      {asked?.what === "all" && (
        <SettleAll queue={queue} action={asked.action} letters={asked.letters} onClose={() => setAsked(undefined)} />
      )}
      <Confirm
        open={asked?.what === "discard"}
        onClose={() => setAsked(undefined)}
        title={s.discardTitle}
        action={s.discard}
        onConfirm={() => asked?.what === "discard" && settling.mutate({ letter: asked.letter, action: "discard" })}
        pending={settling.isPending}
      >
        {s.discardAbout}
      </Confirm>
    </Panel>
  );
}

function useSettle(queue: string, onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ letter, action }: { readonly letter: DeadLetter; readonly action: DeadAction }) =>
      settleDeadLetter(queue, letter.dead_id, action),
    onSuccess: (_, { action }) => {
      toast(action === "redrive" ? s.redriven : s.discarded);
      onDone();
    },
    onError: (error, { action }) => toastError(s[action], error),
    onSettled: () => client.invalidateQueries({ queryKey: queuesKey }),
  });
}

function DeadLetterSheet({ letter, onClose }: { readonly letter: DeadLetter; readonly onClose: () => void }) {
  const { cause, reason, failures, dead_at, document_id, message } = letter;
  return (
    <Dialog open onClose={onClose} title={s.detailTitle} place="side">
      <div className="flex flex-col gap-4">
        <Facts
          of={[
            [s.cause, cause],
            [s.columns.reason, reason ?? s.noReason],
            [s.columns.failures, formatNumber(failures)],
            [s.columns.at, formatDateTime(dead_at)],
            ...(document_id === undefined ? [] : [[s.columns.about, s.document(document_id)] as const]),
          ]}
        />
        {message !== undefined && (
          <section>
            <h2 className="mb-2 text-sm font-semibold">{s.message}</h2>
            <pre
              tabIndex={0}
              className="overflow-auto rounded-md bg-raised p-3 font-mono text-xs break-words whitespace-pre-wrap"
            >
              {JSON.stringify(message, null, 2)}
            </pre>
          </section>
        )}
      </div>
    </Dialog>
  );
}
