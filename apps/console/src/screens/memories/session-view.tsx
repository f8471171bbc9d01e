import type { Session } from "@pinakes/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { deleteSession, sessionOptions, type SessionId } from "../../api/memories.ts";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";
import { ContextPreview, useContextPreview } from "./context-preview.tsx";
import { Conversation } from "./conversation.tsx";
import { ForkDialog } from "./fork-dialog.tsx";

const s = memoryStrings.session;
const route = getRouteApi("/shell/memories");

/** All messages, or up to one. */
type Fork = { readonly upTo: string | undefined };

export function SessionView({ id }: { readonly id: SessionId }) {
  const session = useQuery(sessionOptions(id));
  const context = useContextPreview(id);
  const [fork, setFork] = useState<Fork>();
  const [removing, setRemoving] = useState(false);
  if (session.error !== null) return <ErrorBox error={session.error} onRetry={() => void session.refetch()} />;
  if (session.data === undefined) return <Loading />;
  return (
    <div className="grid items-start gap-4 xl:grid-cols-[20rem_minmax(0,1fr)]">
      <div className="flex flex-col gap-4">
        <Panel title={id.session}>
          <SessionFacts session={session.data} />
          <div className="mt-4 flex flex-wrap gap-2">
            <Button size="small" onClick={() => setFork({ upTo: undefined })}>
              {memoryStrings.fork.label}
            </Button>
            <Button size="small" look="danger" onClick={() => setRemoving(true)}>
              {memoryStrings.remove.label}
            </Button>
          </div>
        </Panel>
        <ContextPreview preview={context} />
      </div>
      <Conversation id={id} inContext={context.ids} onFork={(upTo) => setFork({ upTo })} />
      {fork !== undefined && <ForkDialog id={id} upTo={fork.upTo} onClose={() => setFork(undefined)} />}
      {removing && <Remove id={id} count={session.data.message_count} onClose={() => setRemoving(false)} />}
    </div>
  );
}

function SessionFacts({
  session: { message_count, token_count, first_message_at: first, last_message_at: last, forked_from },
}: {
  readonly session: Session;
}) {
  return (
    <Facts
      of={[
        [s.messages, formatNumber(message_count)],
        ...(token_count === null ? [] : [[s.tokens, formatNumber(token_count)] as const]),
        ...(first === null ? [] : [[s.first, formatDateTime(first)] as const]),
        ...(last === null ? [] : [[s.last, formatDateTime(last)] as const]),
        ...(forked_from === undefined ? [] : [[s.forkedFrom, forked_from] as const]),
      ]}
    />
  );
}

function Remove({
  id,
  count,
  onClose,
}: {
  readonly id: SessionId;
  readonly count: number;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const words = memoryStrings.remove;
  const remove = useMutation({
    mutationFn: () => deleteSession(id),
    onSuccess: async (deleted) => {
      toast(words.done(deleted));
      await navigate({
        search: (old) => ({ ...old, session: undefined, message: undefined, tokens: undefined, strategy: undefined }),
      });
      await client.invalidateQueries({ queryKey: ["memories"] });
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={words.title(id.session)}
      action={words.label}
      typeName={id.session}
      onConfirm={() => remove.mutate()}
      pending={remove.isPending}
      error={remove.error}
    >
      {words.about(count)}
    </Confirm>
  );
}
