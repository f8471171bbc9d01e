import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookOpen, LogOut, Monitor, Moon, Sun, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { meOptions, signOut } from "../api/identity.ts";
import { shellStrings as s } from "../strings/shell.ts";
import { Menu } from "../ui/menu.tsx";
import { toastError } from "../ui/toast.tsx";
import { forgetEverything } from "./forget.ts";
import { setTheme, useTheme, type Theme } from "./theme.ts";

const themes: readonly { readonly theme: Theme; readonly icon: ReactNode }[] = [
  { theme: "light", icon: <Sun aria-hidden /> },
  { theme: "dark", icon: <Moon aria-hidden /> },
  { theme: "system", icon: <Monitor aria-hidden /> },
];

export function AccountMenu() {
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
