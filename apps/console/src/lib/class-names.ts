import { clsx, type ClassValue } from "clsx";
import { twMerge } from "tailwind-merge";

/** Joins class names; of two that say different things about the same property the later one counts. */
export function cx(...names: ClassValue[]): string {
  return twMerge(clsx(names));
}
