/** The messages of a session. Virtualized with measured heights. */
import type { Memory } from "@pinakes/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { messagesOptions, type SessionId } from "../../api/memories.ts";
import { moreOf, type More } from "../../api/page.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { MoreError } from "../../ui/more-error.tsx";
import { Empty, ErrorBox, Loading } from "../../ui/states.tsx";
import { MessageView } from "./message-view.tsx";

const s = memoryStrings.session;
const route = getRouteApi("/shell/memories");
const heightGuess = 110;
const nearEnd = 20;

interface ConversationProps {
  readonly id: SessionId;
  readonly inContext: ReadonlySet<string> | undefined;
  readonly onFork: (upTo: string) => void;
}

export function Conversation({ id, inContext, onFork }: ConversationProps) {
  const list = useInfiniteQuery(messagesOptions(id));
  const items = list.data?.items;
  const more = moreOf(list);
  return (
    <section aria-labelledby="conversation" className="flex min-w-0 flex-col rounded-lg border bg-panel">
      <h2 id="conversation" className="border-b px-4 py-2.5 text-sm font-semibold">
        {s.conversation}
      </h2>
      {list.error !== null && more.error === undefined ? (
        <div className="p-4">
          <ErrorBox error={list.error} onRetry={() => void list.refetch()} />
        </div>
      ) : items === undefined ? (
        <Loading />
      ) : items.length === 0 ? (
        <Empty title={s.nothing} />
      ) : (
        <Messages items={items} inContext={inContext} onFork={onFork} more={more} />
      )}
      <MoreError more={more} />
      <p role="status" className="border-t px-4 py-1.5 text-xs text-soft">
        {items === undefined ? "" : statusOf(items.length, more)}
      </p>
    </section>
  );
}

function statusOf(shown: number, { has, loading, error }: More): string {
  if (loading) return s.loadingMore;
  return error === undefined ? s.shown(shown, has) : s.cutOff(shown);
}

interface MessagesProps {
  readonly items: readonly Memory[];
  readonly inContext: ReadonlySet<string> | undefined;
  readonly onFork: (upTo: string) => void;
  readonly more: More;
}

function Messages({ items, inContext, onFork, more }: MessagesProps) {
  const navigate = route.useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => heightGuess,
    getItemKey: (index) => items[index]?.id ?? index,
    overscan: 6,
  });
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more.has && !more.loading && last >= items.length - nearEnd) more.load();
  }, [more, last, items.length]);
  return (
    <div ref={scroller} tabIndex={0} role="feed" aria-label={s.conversation} className="h-[65dvh] overflow-y-auto">
      <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {shown.map(({ index, start, key }) => {
          const message = items[index];
          return message === undefined ? null : (
            <article
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={more.has || more.error !== undefined ? -1 : items.length}
              className="absolute inset-x-0 top-0 border-b px-4 py-3"
              style={{ transform: `translateY(${start}px)` }}
            >
              <MessageView
                message={message}
                fits={inContext?.has(message.id)}
                onFork={() => onFork(message.id)}
                onThread={() => void navigate({ search: (old) => ({ ...old, message: message.id }) })}
              />
            </article>
          );
        })}
      </div>
    </div>
  );
}
