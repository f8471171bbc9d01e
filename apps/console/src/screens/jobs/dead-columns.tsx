import type { DeadLetter } from "@pinakes/client";
import { formatNumber } from "../../lib/format.ts";
import { queueStrings } from "../../strings/queues.ts";
import { Button } from "../../ui/button.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { Ago } from "../../ui/time.tsx";

const s = queueStrings.dead;

interface Actions {
  /** The dead letter with a pending action. */
  readonly pending: string | undefined;
  readonly onRedrive: (letter: DeadLetter) => void;
  readonly onDiscard: (letter: DeadLetter) => void;
}

export function deadColumns(actions: Actions): readonly Column<DeadLetter>[] {
  return [
    {
      id: "reason",
      header: s.columns.reason,
      width: "minmax(14rem,2fr)",
      cell: ({ reason, cause }) => <Cut text={`${cause}: ${reason ?? s.noReason}`} />,
    },
    {
      id: "about",
      header: s.columns.about,
      width: "minmax(10rem,1fr)",
      cell: (letter) => <Cut text={aboutOf(letter)} />,
    },
    {
      id: "failures",
      header: s.columns.failures,
      width: "4rem",
      align: "right",
      cell: ({ failures }) => formatNumber(failures),
    },
    { id: "at", header: s.columns.at, width: "7.5rem", cell: ({ dead_at }) => <Ago at={dead_at} /> },
    {
      id: "actions",
      header: s.columns.actions,
      width: "12rem",
      cell: (letter) => <RowActions letter={letter} {...actions} />,
    },
  ];
}

function aboutOf({ document_id, message }: DeadLetter): string {
  return document_id === undefined ? JSON.stringify(message ?? null) : s.document(document_id);
}

function Cut({ text }: { readonly text: string }) {
  return (
    <span className="truncate" title={text}>
      {text}
    </span>
  );
}

function RowActions({ letter, pending, onRedrive, onDiscard }: Actions & { readonly letter: DeadLetter }) {
  const { dead_id } = letter;
  const busy = pending === dead_id;
  return (
    <>
      <Button
        size="small"
        disabled={busy}
        aria-label={s.actionFor(s.redrive, dead_id)}
        onClick={(event) => {
          event.stopPropagation();
          onRedrive(letter);
        }}
      >
        {s.redrive}
      </Button>
      <Button
        size="small"
        look="danger"
        disabled={busy}
        aria-label={s.actionFor(s.discard, dead_id)}
        onClick={(event) => {
          event.stopPropagation();
          onDiscard(letter);
        }}
      >
        {s.discard}
      </Button>
    </>
  );
}
