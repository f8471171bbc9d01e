/** Guards unsaved input: the surrounding dialog asks before it closes. */
import { AlertDialog as Base } from "@base-ui/react/alert-dialog";
import { createContext, useContext, useEffect } from "react";
import { uiStrings } from "../strings/ui.ts";
import { Button } from "./button.tsx";

const s = uiStrings.unsaved;

export const TellUnsaved = createContext<(unsaved: boolean) => void>(() => {});

/** For a form inside a dialog: reports whether it has unsaved changes. */
export function useUnsaved(unsaved: boolean): void {
  const tell = useContext(TellUnsaved);
  useEffect(() => {
    tell(unsaved);
    return () => tell(false);
  }, [tell, unsaved]);
}

/** Lets the browser ask before the page is closed or reloaded. */
export function useAskBeforeUnload(unsaved: boolean): void {
  useEffect(() => {
    if (!unsaved) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [unsaved]);
}

interface LeaveQuestionProps {
  readonly open: boolean;
  readonly onStay: () => void;
  readonly onLeave: () => void;
}

export function LeaveQuestion({ open, onStay, onLeave }: LeaveQuestionProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => (next ? undefined : onStay())}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-50 bg-black/40" forceRender />
        <Base.Popup className="fixed top-1/2 left-1/2 z-50 flex w-[calc(100vw-2rem)] max-w-sm -translate-x-1/2 -translate-y-1/2 flex-col gap-3 rounded-lg border bg-panel p-5 text-ink shadow-xl">
          <Base.Title className="font-semibold">{s.title}</Base.Title>
          <Base.Description className="text-sm text-soft">{s.about}</Base.Description>
          <div className="flex flex-wrap justify-end gap-2">
            {/* First, and therefore focused: Enter loses nothing. */}
            <Button onClick={onStay}>{s.stay}</Button>
            <Button look="danger" onClick={onLeave}>
              {s.leave}
            </Button>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
