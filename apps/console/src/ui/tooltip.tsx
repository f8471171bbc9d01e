import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";

/** Additional explanation; never the only place for important information. */
export function Tooltip({ text, children }: { readonly text: string; readonly children: ReactElement }) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="z-50">
          <Base.Popup className="max-w-xs rounded-md bg-ink px-2 py-1 text-xs text-page shadow-lg">{text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
