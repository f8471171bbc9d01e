import { clsx, type ClassValue } from "clsx";
import { twMerge } from "tailwind-merge";

/** Joins class names; for conflicting Tailwind classes, the last one wins. */
export function cx(...names: ClassValue[]): string {
  return twMerge(clsx(names));
}
