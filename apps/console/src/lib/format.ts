import { uiStrings } from "../strings/ui.ts";

const number = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function formatNumber(value: number): string {
  return number.format(value);
}

export function formatCompact(value: number): string {
  return compact.format(value);
}

const units = ["B", "KB", "MB", "GB", "TB"];

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

export function formatMs(ms: number): string {
  if (ms === 0) return "0 ms";
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
  return formatSeconds(ms / 1000);
}

export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

export function formatDateTime(at: string | number): string {
  return dateTime.format(new Date(at));
}

/** "3 min ago", "in 2 days". */
export function formatAgo(at: string | number, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return uiStrings.now;
  const words = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
  if (size < 60) return words.format(Math.round(seconds), "second");
  if (size < 3600) return words.format(Math.round(seconds / 60), "minute");
  if (size < 86_400) return words.format(Math.round(seconds / 3600), "hour");
  return words.format(Math.round(seconds / 86_400), "day");
}
