/** Previews which messages fit a token budget, and marks them in the conversation. */
import { contextStrategies, type ContextStrategy, type ContextWindow } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { contextOptions, type SessionId } from "../../api/memories.ts";
import { formatNumber } from "../../lib/format.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { Button } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ErrorBox } from "../../ui/states.tsx";

const s = memoryStrings.context;
const route = getRouteApi("/shell/memories");
const tokensFirst = 1_000;

interface Preview {
  readonly window: ContextWindow | undefined;
  readonly error: unknown;
  readonly ids: ReadonlySet<string> | undefined;
}

export function useContextPreview(id: SessionId): Preview {
  const { tokens, strategy = "recent" } = route.useSearch();
  const { data, error } = useQuery(contextOptions(id, tokens, strategy));
  const window = tokens === undefined ? undefined : data;
  return {
    window,
    error,
    ids: window === undefined ? undefined : new Set(window.messages.map((message) => message.id)),
  };
}

export function ContextPreview({ preview: { window, error } }: { readonly preview: Preview }) {
  const { tokens, strategy = "recent" } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(String(tokens ?? tokensFirst));
  const show = (next: number | undefined, how: ContextStrategy = strategy) =>
    void navigate({
      search: (old) => ({ ...old, tokens: next, strategy: next === undefined ? undefined : how }),
      replace: true,
    });
  return (
    <Panel title={s.title}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          show(Number(typed));
        }}
      >
        <p className="text-sm text-soft">{s.about}</p>
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label={s.maxTokens}
            type="number"
            min={1}
            required
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
          <Select
            label={s.strategy}
            value={strategy}
            choices={contextStrategies.map((value) => ({ value, label: s.strategies[value] }))}
            onChoose={(next) => show(Number(typed), next)}
          />
        </div>
        <div className="flex gap-2">
          <Button type="submit" size="small">
            {s.show}
          </Button>
          {tokens !== undefined && (
            <Button size="small" look="quiet" onClick={() => show(undefined)}>
              {s.off}
            </Button>
          )}
        </div>
        <div role="status" className="text-sm">
          {window !== undefined && s.outcome(window.messages.length, formatNumber(window.token_count), window.omitted)}
        </div>
        {tokens !== undefined && error !== null && <ErrorBox error={error} />}
      </form>
    </Panel>
  );
}
