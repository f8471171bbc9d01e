import type { Erasure, ErasureStore } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { erasureOptions, hasEnded, receiptOptions } from "../../api/governance.ts";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { governanceStrings } from "../../strings/governance.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";
import { ErasureState } from "./erasures-tab.tsx";
import { VerifyErasure } from "./verify-erasure.tsx";

const s = governanceStrings.detail;

export function ErasureSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error, refetch } = useQuery(erasureOptions(id));
  const title = data === undefined ? "…" : s.title(governanceStrings.subject.types[data.subject.type]);
  return (
    <Dialog open onClose={onClose} title={title} place="side">
      {data === undefined ? <Pending of={{ error, refetch }} /> : <Report erasure={data} />}
    </Dialog>
  );
}

function Report({ erasure }: { readonly erasure: Erasure }) {
  const { finished_at, holds, receipt_id, dry_run } = erasure;
  return (
    <div className="flex flex-col gap-5">
      <Facts
        of={[
          [s.state, <ErasureState key="state" of={erasure} />],
          [s.hmac, <Code key="hmac" text={erasure.subject.hmac} />],
          [s.workspaces, erasure.workspaces.join(", ")],
          [s.by, erasure.created_by],
          [s.requested, formatDateTime(erasure.created_at)],
          ...(finished_at === null ? [] : [[s.finished, formatDateTime(finished_at)] as const]),
          [s.attempts, formatNumber(erasure.attempts)],
          ...(holds.length === 0 ? [] : [[s.holds, holds.join(", ")] as const]),
          [
            s.backups,
            erasure.last_backup_expires_at === null ? s.noBackups : formatDateTime(erasure.last_backup_expires_at),
          ],
        ]}
      />
      {erasure.error !== null && (
        <p className="rounded-md bg-bad-soft p-3 text-sm break-words text-bad">{`${s.error}: ${erasure.error}`}</p>
      )}
      <section className="flex min-w-0 flex-col gap-3">
        <h2 className="text-sm font-semibold">{s.stores}</h2>
        <DataTable
          label={s.stores}
          columns={columns}
          items={touched(erasure.stores)}
          rowId={({ store }) => store}
          empty={null}
        />
      </section>
      {receipt_id !== null && <Receipt id={erasure.erasure_id} />}
      {!dry_run && hasEnded(erasure) && <VerifyErasure erasure={erasure} />}
    </div>
  );
}

/** Stores where something was found come first. */
function touched(stores: readonly ErasureStore[]): readonly ErasureStore[] {
  return [...stores].toSorted((a, b) => b.found - a.found);
}

function Receipt({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(receiptOptions(id));
  return (
    <section className="flex min-w-0 flex-col gap-3">
      <h2 className="text-sm font-semibold">{s.receipt}</h2>
      <p className="text-sm text-soft">{s.receiptAbout}</p>
      {data === undefined ? (
        <Pending of={{ error, refetch }} />
      ) : (
        <>
          <pre
            aria-label={s.jws}
            tabIndex={0}
            className="max-h-40 overflow-auto rounded bg-raised p-3 font-mono text-xs break-all whitespace-pre-wrap"
          >
            {data.jws}
          </pre>
          <div className="flex flex-wrap gap-2">
            <CopyButton text={data.jws} label={s.copy} />
            <CopyButton text={data.public_key} label={s.copyKey} />
          </div>
        </>
      )}
    </section>
  );
}

function Code({ text }: { readonly text: string }) {
  return <code className="font-mono text-xs break-all">{text}</code>;
}

const count = (id: "found" | "deleted" | "redacted" | "anonymised" | "held", width: string): Column<ErasureStore> => ({
  id,
  header: s.columns[id],
  width,
  align: "right",
  cell: (store) => formatNumber(store[id]),
});

const columns: readonly Column<ErasureStore>[] = [
  {
    id: "store",
    header: s.columns.store,
    width: "minmax(8rem,1fr)",
    cell: ({ store }) => (
      <span className="truncate font-medium" title={store}>
        {store}
      </span>
    ),
  },
  count("found", "4.5rem"),
  count("deleted", "5rem"),
  count("redacted", "5.5rem"),
  count("anonymised", "6.5rem"),
  count("held", "4rem"),
  {
    id: "remaining",
    header: s.columns.remaining,
    width: "6rem",
    align: "right",
    cell: ({ remaining }) => (remaining === null ? "–" : formatNumber(remaining)),
  },
];
