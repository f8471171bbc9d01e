/** The pages in the order of the navigation; the command palette uses the same list. */
import type { Me } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import {
  Activity,
  Archive,
  ChartLine,
  Database,
  FolderSearch,
  GitBranch,
  House,
  KeyRound,
  Layers,
  ListTodo,
  MessagesSquare,
  Network,
  ScrollText,
  Search,
  ShieldOff,
  Trash2,
  Truck,
  Wrench,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { meOptions } from "../api/identity.ts";
import { shellStrings } from "../strings/shell.ts";

export interface NavigationEntry {
  readonly to: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Who sees the page; everyone when absent. */
  readonly visibleTo?: (me: Me) => boolean;
}

export interface NavigationGroup {
  readonly label: string | undefined;
  readonly entries: readonly NavigationEntry[];
}

const { pages, groups } = shellStrings;
const isAdmin = ({ role }: Me) => role === "admin";
const mayAudit = (me: Me) => isAdmin(me) || me.permissions.includes("audit");

const navigation: readonly NavigationGroup[] = [
  {
    label: undefined,
    entries: [
      { to: "/", label: pages.home, icon: House },
      { to: "/overview", label: pages.overview, icon: Activity },
    ],
  },
  {
    label: groups.knowledge,
    entries: [
      { to: "/collections", label: pages.collections, icon: Layers },
      { to: "/search", label: pages.search, icon: Search },
      { to: "/graph", label: pages.graph, icon: Network },
      { to: "/trash", label: pages.trash, icon: Trash2 },
    ],
  },
  {
    label: groups.state,
    entries: [
      { to: "/workflows", label: pages.workflows, icon: GitBranch },
      { to: "/memories", label: pages.memories, icon: MessagesSquare },
      { to: "/agent-metrics", label: pages.metrics, icon: ChartLine },
      { to: "/tools", label: pages.tools, icon: Wrench },
      { to: "/containers", label: pages.containers, icon: Database },
    ],
  },
  {
    label: groups.operation,
    entries: [
      { to: "/jobs", label: pages.jobs, icon: ListTodo },
      { to: "/deletions", label: pages.deletions, icon: Archive },
      { to: "/audit", label: pages.audit, icon: FolderSearch },
      { to: "/migrations", label: pages.migrations, icon: Truck },
      { to: "/audit-log", label: pages.auditLog, icon: ScrollText, visibleTo: mayAudit },
      { to: "/governance", label: pages.governance, icon: ShieldOff, visibleTo: isAdmin },
      { to: "/access", label: pages.access, icon: KeyRound },
    ],
  },
];

/** The pages that the signed-in user may open. */
export function useNavigation(): readonly NavigationGroup[] {
  const me = useQuery(meOptions).data;
  const shown = ({ visibleTo }: NavigationEntry) => visibleTo === undefined || (me !== undefined && visibleTo(me));
  return navigation.map(({ label, entries }) => ({ label, entries: entries.filter(shown) }));
}
