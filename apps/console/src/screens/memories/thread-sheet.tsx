import type { Memory } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { threadOptions } from "../../api/memories.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { MessageView } from "./message-view.tsx";

const s = memoryStrings.thread;
const route = getRouteApi("/shell/memories");

export function ThreadSheet({ agent, message }: { readonly agent: string; readonly message: string }) {
  const navigate = route.useNavigate();
  const { session } = route.useSearch();
  const thread = useQuery(threadOptions(agent, message));
  const show = (id: string | undefined) => void navigate({ search: (old) => ({ ...old, message: id }) });
  const found = thread.data;
  return (
    <Dialog open onClose={() => show(undefined)} title={s.title} about={message} place="side">
      {thread.error !== null ? (
        <ErrorBox error={thread.error} onRetry={() => void thread.refetch()} />
      ) : found === undefined ? (
        <Loading />
      ) : (
        <div className="flex flex-col gap-5">
          <Part title={s.before} nothing={s.nothingBefore} messages={found.ancestors} onOpen={show} />
          <section>
            <h3 className="mb-2 text-sm font-semibold">{s.message}</h3>
            <div className="rounded-md border border-brand p-3">
              <MessageView message={found.message} />
              {session !== found.message.session_id && (
                <Button
                  size="small"
                  className="mt-2"
                  onClick={() =>
                    void navigate({
                      search: (old) => ({
                        ...old,
                        q: undefined,
                        session: found.message.session_id,
                        message: undefined,
                      }),
                    })
                  }
                >
                  {s.open}
                </Button>
              )}
            </div>
          </section>
          <Part title={s.after} nothing={s.nothingAfter} messages={found.children} onOpen={show} />
        </div>
      )}
    </Dialog>
  );
}

interface PartProps {
  readonly title: string;
  readonly nothing: string;
  readonly messages: readonly Memory[];
  readonly onOpen: (id: string) => void;
}

function Part({ title, nothing, messages, onOpen }: PartProps) {
  return (
    <section>
      <h3 className="mb-2 text-sm font-semibold">{title}</h3>
      {messages.length === 0 && <p className="text-sm text-soft">{nothing}</p>}
      <ul className="flex flex-col gap-2">
        {messages.map((message) => (
          <li key={message.id} className="rounded-md border p-3">
            <MessageView message={message} onThread={() => onOpen(message.id)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
