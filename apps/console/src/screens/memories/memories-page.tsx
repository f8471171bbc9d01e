/** Agents, sessions and messages, selected by the URL. */
import { getRouteApi, Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { memoryStrings as s } from "../../strings/memories.ts";
import { Page } from "../../ui/panel.tsx";
import { AgentList } from "./agent-list.tsx";
import { MemorySearchBox, MemorySearchResults } from "./memory-search.tsx";
import { SessionList } from "./session-list.tsx";
import { SessionView } from "./session-view.tsx";
import { ThreadSheet } from "./thread-sheet.tsx";

const route = getRouteApi("/shell/memories");

export function MemoriesPage() {
  const { agent, session, message, q } = route.useSearch();
  return (
    <Page title={s.title} about={s.about}>
      <MemorySearchBox key={`${q ?? ""} ${agent ?? ""}`} />
      {q !== undefined && <MemorySearchResults />}
      <Trail agent={agent} session={session} />
      {agent === undefined ? (
        <AgentList />
      ) : session === undefined ? (
        <SessionList agent={agent} />
      ) : (
        <SessionView key={`${agent} ${session}`} id={{ agent, session }} />
      )}
      {agent !== undefined && message !== undefined && <ThreadSheet agent={agent} message={message} />}
    </Page>
  );
}

const crumb = "truncate rounded text-brand underline-offset-2 hover:underline";

function Trail({ agent, session }: { readonly agent: string | undefined; readonly session: string | undefined }) {
  const { q, mode } = route.useSearch();
  if (agent === undefined) return null;
  return (
    <nav
      aria-label={s.path.label}
      className="flex min-w-0 flex-wrap items-center gap-1 text-sm [&>svg]:size-4 [&>svg]:text-soft"
    >
      <Link to="/memories" search={{ q, mode }} className={crumb}>
        {s.path.agents}
      </Link>
      <ChevronRight aria-hidden />
      {session === undefined ? (
        <span className="truncate font-medium">{agent}</span>
      ) : (
        <>
          <Link to="/memories" search={{ q, mode, agent }} className={crumb}>
            {agent}
          </Link>
          <ChevronRight aria-hidden />
          <span className="truncate font-medium">{session}</span>
        </>
      )}
    </nav>
  );
}
