import type { ComponentProps } from "react";
import { cx } from "../lib/class-names.ts";

export interface ButtonProps extends ComponentProps<"button"> {
  readonly look?: "main" | "plain" | "quiet" | "danger";
  readonly size?: "small" | "normal" | "icon";
}

const looks = {
  main: "bg-brand text-brand-ink hover:brightness-110 border-transparent",
  plain: "bg-panel text-ink hover:bg-raised",
  quiet: "border-transparent bg-transparent text-soft hover:bg-raised hover:text-ink",
  danger: "bg-bad-soft text-bad hover:brightness-95 dark:hover:brightness-125 border-transparent",
};

const sizes = { small: "h-7 px-2 text-xs", normal: "h-9 px-3 text-sm", icon: "size-9 justify-center" };

export function Button({ look = "plain", size = "normal", className, type = "button", ...props }: ButtonProps) {
  return <button {...props} type={type} className={buttonClass(look, size, className)} />;
}

export function buttonClass(
  look: keyof typeof looks = "plain",
  size: keyof typeof sizes = "normal",
  more?: string,
): string {
  return cx(
    "inline-flex shrink-0 items-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none disabled:opacity-50 [&>svg]:size-4",
    sizes[size],
    looks[look],
    more,
  );
}
