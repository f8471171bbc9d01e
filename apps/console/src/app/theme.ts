/** Light, dark, or as the system is. The first paint is made by public/theme.js, with the same rule. */
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const key = "pinakes.theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

systemIsDark.addEventListener("change", apply);

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme);
}

export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, isDark);
}

export function setTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  apply();
}

function currentTheme(): Theme {
  const kept = localStorage.getItem(key);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function isDark(): boolean {
  const theme = currentTheme();
  return theme === "dark" || (theme === "system" && systemIsDark.matches);
}

function apply(): void {
  document.documentElement.classList.toggle("dark", isDark());
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
