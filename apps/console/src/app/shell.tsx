/** The frame of every page: navigation, top bar, content. */
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { BookOpen, LogOut, Menu as MenuIcon, Monitor, Moon, Sun, UserRound, WifiOff } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useConnected } from "../api/connection.ts";
import { startEvents } from "../api/events.ts";
import { meOptions, signOut } from "../api/identity.ts";
import { cx } from "../lib/class-names.ts";
import { shellStrings as s } from "../strings/shell.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Menu } from "../ui/menu.tsx";
import { toastError } from "../ui/toast.tsx";
import { CallsButton } from "./calls-drawer.tsx";
import { CommandPalette } from "./command-palette.tsx";
import { forgetEverything } from "./forget.ts";
import { useNavigation } from "./navigation.ts";
import { setTheme, type Theme, useTheme } from "./theme.ts";

export function Shell() {
  const [navigating, setNavigating] = useState(false);
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => startEvents(), []);
  useHeadingFocus();
  // Navigating closes the mobile navigation.
  useEffect(() => setNavigating(false), [pathname]);
  return (
    <div className="grid h-full grid-rows-[auto_1fr] lg:grid-cols-[14rem_1fr] lg:grid-rows-1">
      <a href="#content" className="sr-only z-50 rounded bg-panel p-2 focus:not-sr-only focus:absolute">
        {s.skip}
      </a>
      <aside className="hidden min-h-0 flex-col overflow-y-auto border-r bg-panel p-3 lg:flex">
        <Brand />
        <Navigation />
      </aside>
      <div className="flex min-h-0 min-w-0 flex-col lg:h-full">
        <ConnectionBanner />
        <header className="flex items-center gap-2 border-b bg-panel px-3 py-2">
          <Button
            look="quiet"
            size="icon"
            className="lg:hidden"
            aria-label={s.openNavigation}
            onClick={() => setNavigating(true)}
          >
            <MenuIcon aria-hidden />
          </Button>
          <CommandPalette />
          <div className="flex-1" />
          <CallsButton />
          <AccountMenu />
        </header>
        <main id="content" tabIndex={-1} className="relative min-h-0 flex-1 overflow-y-auto outline-hidden">
          <Outlet />
        </main>
      </div>
      <Dialog open={navigating} onClose={() => setNavigating(false)} title={s.product} place="side">
        <Navigation />
      </Dialog>
    </div>
  );
}

function Brand() {
  return (
    <Link to="/" className="mb-3 flex items-center gap-2 rounded px-2 py-1 text-base font-semibold">
      <img src="/icon.svg" alt="" className="size-6" />
      {s.product}
    </Link>
  );
}

function Navigation() {
  const navigation = useNavigation();
  return (
    <nav aria-label={s.navigation} className="flex flex-col gap-4">
      {navigation.map(({ label, entries }) => (
        <div key={label ?? ""}>
          {label !== undefined && <p className="px-2 pb-1 text-xs font-medium text-soft">{label}</p>}
          <ul className="flex flex-col gap-0.5">
            {entries.map(({ to, label: text, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  activeOptions={{ exact: to === "/", includeSearch: false }}
                  className={cx(
                    "flex items-center gap-2 rounded-md px-2 py-1.5 text-sm text-soft hover:bg-raised hover:text-ink [&>svg]:size-4",
                  )}
                  activeProps={{ className: "bg-brand-soft !text-brand font-medium" }}
                >
                  <Icon aria-hidden />
                  {text}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/**
 * After navigation, focus moves to the heading, for keyboards and screen readers. Not on the first page, which the browser reads from the
 * top, and not where the page focuses a field itself.
 */
function useHeadingFocus(): void {
  const shown = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef<string>(undefined);
  useEffect(() => {
    const first = before.current === undefined;
    if (shown === undefined || shown === before.current) return undefined;
    before.current = shown;
    return first ? undefined : focusWhenThere();
  }, [shown]);
}

/** The page may still be loading, and the menu closing. User input in the meantime takes precedence. */
function focusWhenThere(): () => void {
  const observer = new MutationObserver(tryNow);
  const given = ["keydown", "pointerdown"] as const;
  function stop(): void {
    observer.disconnect();
    for (const event of given) removeEventListener(event, stop, true);
  }
  function tryNow(): void {
    const heading = document.querySelector<HTMLElement>("main h1");
    if (heading === null || document.querySelector("[role=dialog], [role=menu]") !== null) return;
    stop();
    const chosen = document.activeElement?.closest("main h1, main input, main textarea, main select") ?? null;
    if (chosen === null) heading.focus();
  }
  observer.observe(document.body, { childList: true, subtree: true });
  for (const event of given) addEventListener(event, stop, true);
  tryNow();
  return stop;
}

const themes: readonly { readonly theme: Theme; readonly icon: ReactNode }[] = [
  { theme: "light", icon: <Sun aria-hidden /> },
  { theme: "dark", icon: <Moon aria-hidden /> },
  { theme: "system", icon: <Monitor aria-hidden /> },
];

function AccountMenu() {
  const me = useQuery(meOptions).data;
  const theme = useTheme();
  const navigate = useNavigate();
  const leave = async () => {
    try {
      await signOut();
      forgetEverything();
      await navigate({ to: "/sign-in" });
    } catch (error) {
      toastError(s.account.signOut, error);
    }
  };
  return (
    <Menu
      entries={[
        ...themes.map(({ theme: one, icon }) => ({
          label: s.theme[one],
          icon,
          disabled: one === theme,
          onChoose: () => setTheme(one),
        })),
        {
          label: s.pages.reference,
          icon: <BookOpen aria-hidden />,
          onChoose: () => window.open("/docs", "_blank", "noopener"),
        },
        { label: s.account.signOut, icon: <LogOut aria-hidden />, onChoose: () => void leave() },
      ]}
    >
      <UserRound aria-hidden />
      <span className="sr-only sm:hidden">{s.account.label}</span>
      <span className="hidden sm:inline">{me === undefined ? "" : `${me.user_id} · ${me.workspace_id}`}</span>
    </Menu>
  );
}

function ConnectionBanner() {
  const connected = useConnected();
  return (
    <div role="status">
      {!connected && (
        <p className="flex items-center gap-2 bg-warn-soft px-4 py-2 text-sm font-medium text-warn">
          <WifiOff className="size-4" aria-hidden />
          {s.connection.lost}
        </p>
      )}
    </div>
  );
}
