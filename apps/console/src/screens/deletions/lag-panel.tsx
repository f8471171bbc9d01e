import { useQuery } from "@tanstack/react-query";
import { meOptions } from "../../api/identity.ts";
import { deletionLagOptions } from "../../api/operations.ts";
import { formatNumber, formatSeconds } from "../../lib/format.ts";
import { deletionStrings } from "../../strings/deletions.ts";
import { Button } from "../../ui/button.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Pending } from "../../ui/states.tsx";

const s = deletionStrings.lag;

export function LagPanel({ onOpen }: { readonly onOpen: (operationId: string) => void }) {
  const isAdmin = useQuery(meOptions).data?.role === "admin";
  const { data, error, refetch } = useQuery(deletionLagOptions(isAdmin));
  // Admins only: others see their own operations below.
  if (!isAdmin) return null;
  const oldest = data?.oldest ?? null;
  return (
    <Panel
      title={s.title}
      actions={
        oldest !== null && (
          <Button size="small" onClick={() => onOpen(oldest.operation_id)}>
            {s.oldest}
          </Button>
        )
      }
    >
      {data === undefined ? (
        <Pending of={{ error, refetch }} />
      ) : (
        <div className="flex flex-col gap-3">
          <Facts
            of={[
              [s.value, data.oldest === null ? s.none : formatSeconds(data.lag_seconds)],
              [s.unfinished, formatNumber(data.unfinished)],
              [s.failed, formatNumber(data.failed)],
              [s.limit, formatSeconds(data.limit_seconds)],
            ]}
          />
          {/* Not an alert: screen readers would announce each change of the seconds. */}
          {data.warning !== null && (
            <p className="rounded-md bg-bad-soft p-3 text-sm break-words text-bad">{data.warning}</p>
          )}
        </div>
      )}
    </Panel>
  );
}
