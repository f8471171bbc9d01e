import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { cx } from "../lib/class-names.ts";
import { uiStrings as s } from "../strings/ui.ts";
import { ShownName } from "./name.tsx";
import { LeaveQuestion, TellUnsaved, useAskBeforeUnload } from "./unsaved.tsx";

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
  /** `side`: a sheet at the right edge. */
  readonly place?: "middle" | "side";
  readonly wide?: boolean;
  /** There are unsaved changes: Escape, the close button and a click outside ask first. Forms report them with useUnsaved. */
  readonly unsaved?: boolean;
}

const middle =
  "top-1/2 left-1/2 max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 rounded-lg border";
const side = "inset-y-0 right-0 h-dvh w-full max-w-[min(100vw,44rem)] border-l";

export function Dialog({
  open,
  onClose,
  title,
  about,
  children,
  place = "middle",
  wide = false,
  unsaved = false,
}: DialogProps) {
  const [told, setTold] = useState(false);
  const [asking, setAsking] = useState(false);
  const losing = open && (unsaved || told);
  useAskBeforeUnload(losing);
  const leave = () => {
    setAsking(false);
    onClose();
  };
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : losing ? setAsking(true) : onClose())}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40 transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          className={cx(
            "fixed z-50 flex flex-col bg-panel text-ink shadow-xl transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0",
            place === "side" ? side : cx(middle, wide ? "max-w-4xl" : "max-w-lg"),
          )}
        >
          <header className="flex items-start gap-3 border-b px-5 py-3">
            <div className="min-w-0 flex-1">
              <Base.Title className="line-clamp-3 font-semibold wrap-anywhere">
                <ShownName of={title} />
              </Base.Title>
              {about !== undefined && <Base.Description className="text-sm text-soft">{about}</Base.Description>}
            </div>
            <Base.Close className="-mr-2 rounded p-1.5 text-soft hover:bg-raised" aria-label={s.close}>
              <X className="size-4" aria-hidden />
            </Base.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-auto p-5">
            <TellUnsaved value={setTold}>{children}</TellUnsaved>
          </div>
          <LeaveQuestion open={asking && losing} onStay={() => setAsking(false)} onLeave={leave} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
