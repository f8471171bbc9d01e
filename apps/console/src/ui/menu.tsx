import { Menu as Base } from "@base-ui/react/menu";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { cx } from "../lib/class-names.ts";
import { uiStrings as s } from "../strings/ui.ts";
import { buttonClass } from "./button.tsx";

export interface MenuEntry {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onChoose: () => void;
}

export function Menu({
  entries,
  label = s.more,
  children,
}: {
  readonly entries: readonly MenuEntry[];
  readonly label?: string;
  readonly children?: ReactNode;
}) {
  return (
    <Base.Root>
      <Base.Trigger
        className={buttonClass(children === undefined ? "quiet" : "plain", children === undefined ? "icon" : "normal")}
        aria-label={children === undefined ? label : undefined}
      >
        {children ?? <Ellipsis aria-hidden />}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="z-50 outline-hidden" sideOffset={4} align="end">
          <Base.Popup className="min-w-44 rounded-md border bg-panel p-1 text-ink shadow-lg outline-hidden">
            {entries.map(({ label: text, icon, danger, disabled, onChoose }) => (
              <Base.Item
                key={text}
                disabled={disabled ?? false}
                onClick={onChoose}
                className={cx(
                  "flex cursor-default items-center gap-2 rounded px-2 py-1.5 text-sm outline-hidden select-none data-disabled:opacity-50 data-highlighted:bg-raised [&>svg]:size-4",
                  danger === true && "text-bad",
                )}
              >
                {icon}
                {text}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
