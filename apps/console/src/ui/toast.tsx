/** Short notifications in the corner. */
import { Toast as Base } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { cx } from "../lib/class-names.ts";
import { shownName } from "../lib/shown-name.ts";
import { uiStrings as s } from "../strings/ui.ts";
import { messageOf } from "./states.tsx";

const manager = Base.createToastManager();

export function toast(title: string, description?: string): void {
  manager.add({
    title: shownName(title),
    ...(description === undefined ? {} : { description: shownName(description) }),
  });
}

export function toastError(title: string, error: unknown): void {
  manager.add({
    title: shownName(title),
    description: shownName(messageOf(error)),
    type: "error",
    priority: "high",
    timeout: 10_000,
  });
}

export function Toasts() {
  return (
    <Base.Provider toastManager={manager}>
      <Base.Portal>
        <Base.Viewport className="fixed right-4 bottom-4 z-50 flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2">
          <List />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

function List() {
  const { toasts } = Base.useToastManager();
  return toasts.map((one) => (
    <Base.Root
      key={one.id}
      toast={one}
      className={cx(
        "rounded-md border bg-panel text-ink shadow-lg transition-opacity duration-200 data-ending-style:opacity-0 data-starting-style:opacity-0",
        one.type === "error" && "border-bad",
      )}
    >
      <Base.Content className="flex items-start gap-2 p-3">
        <div className="min-w-0 flex-1">
          <Base.Title className="line-clamp-3 text-sm font-medium wrap-anywhere" />
          <Base.Description className="text-sm break-words text-soft" />
        </div>
        <Base.Close className="rounded p-1 text-soft hover:bg-raised" aria-label={s.close}>
          <X className="size-4" aria-hidden />
        </Base.Close>
      </Base.Content>
    </Base.Root>
  ));
}
