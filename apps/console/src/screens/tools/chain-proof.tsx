import type { ChainCheck } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { meOptions } from "../../api/identity.ts";
import { checkChain, setHashChain, toolLogSettingsOptions } from "../../api/tool-log.ts";
import { cx } from "../../lib/class-names.ts";
import { toolStrings } from "../../strings/tools.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { toast, toastError } from "../../ui/toast.tsx";

const s = toolStrings.integrity;

export function ChainProof() {
  const [day, setDay] = useState(() => new Date().toISOString().slice(0, 10));
  const check = useMutation({ mutationFn: checkChain });
  return (
    <Panel title={s.title}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-sm text-soft">{s.about}</p>
        <Setting />
        <form
          className="flex flex-wrap items-end gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            check.mutate(day);
          }}
        >
          <TextField
            className="w-44"
            label={s.day}
            type="date"
            required
            value={day}
            onChange={({ target }) => setDay(target.value)}
          />
          <Button type="submit" look="main" disabled={check.isPending || day === ""}>
            {s.check}
          </Button>
        </form>
        {check.error !== null && <ErrorBox error={check.error} />}
        {check.data !== undefined && <Outcome check={check.data} />}
      </div>
    </Panel>
  );
}

function Setting() {
  const client = useQueryClient();
  const me = useQuery(meOptions).data;
  const settings = useQuery(toolLogSettingsOptions);
  const change = useMutation({
    mutationFn: setHashChain,
    onSuccess: async () => {
      toast(s.changed);
      await client.invalidateQueries({ queryKey: toolLogSettingsOptions.queryKey });
    },
    onError: (error) => toastError(s.title, error),
  });
  if (settings.error !== null) return <ErrorBox error={settings.error} onRetry={() => void settings.refetch()} />;
  if (settings.data === undefined) return null;
  const on = settings.data.hash_chain;
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm">
      <p className={cx("min-w-0", on && "text-good")}>{on ? s.on : s.off}</p>
      {me?.role === "admin" && (
        <Button size="small" disabled={change.isPending} onClick={() => change.mutate(!on)}>
          {on ? s.turnOff : s.turnOn}
        </Button>
      )}
    </div>
  );
}

function Outcome({ check }: { readonly check: ChainCheck }) {
  const { state, intact, head } = check;
  return (
    <div role="status" className="flex flex-col gap-2 rounded-md border p-3 text-sm">
      <p className={cx("font-medium", !intact ? "text-bad" : state === "chained" && "text-good")}>{wordsOf(check)}</p>
      {head !== null && (
        <p className="flex flex-wrap items-center gap-2">
          {s.head} <code className="font-mono text-xs break-all">{head}</code> <CopyButton text={head} />
          <span className="basis-full text-xs text-soft">{s.headHint}</span>
        </p>
      )}
    </div>
  );
}

function wordsOf({ state, entries, intact, broken_at }: ChainCheck): string {
  if (state !== "chained") return state === "empty" ? s.empty : s.unchained;
  if (!intact) return s.broken(broken_at ?? "–");
  // All entries of the chain may have expired.
  return entries === 0 ? s.expired : s.intact(entries);
}
