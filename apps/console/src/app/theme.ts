/** Light, dark or system theme. public/theme.js applies it before the first paint, with the same rule. */
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const key = "pinakes.theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let chosen: Theme | undefined;

systemIsDark.addEventListener("change", apply);

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, currentTheme);
}

export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, isDark);
}

export function setTheme(theme: Theme): void {
  chosen = theme;
  try {
    if (theme === "system") localStorage.removeItem(key);
    else localStorage.setItem(key, theme);
  } catch {
    // Without local storage, the choice lasts until the page is closed.
  }
  apply();
}

function currentTheme(): Theme {
  chosen ??= kept();
  return chosen;
}

function kept(): Theme {
  try {
    const text = localStorage.getItem(key);
    return text === "light" || text === "dark" ? text : "system";
  } catch {
    return "system";
  }
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
