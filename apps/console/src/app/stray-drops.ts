/**
 * A file dropped outside a drop zone: the browser would leave the page and open it. The drop is prevented, with a notification.
 * Drop zones handle their own drops and mark them as handled.
 */
import { shellStrings } from "../strings/shell.ts";
import { toast } from "../ui/toast.tsx";

const s = shellStrings.drops;

export function catchStrayDrops(): () => void {
  const dragged = (event: DragEvent) => {
    // An editor accepts files as text unless the default is prevented.
    if (
      isHandled(event) ||
      (event.target instanceof Element && event.target.closest("[contenteditable=true]") !== null)
    )
      return;
    event.preventDefault();
  };
  const dropped = (event: DragEvent) => {
    if (isHandled(event)) return;
    event.preventDefault();
    toast(document.querySelector("[data-drop-zone]") === null ? s.noTarget : s.outside);
  };
  document.addEventListener("dragover", dragged);
  document.addEventListener("drop", dropped);
  return () => {
    document.removeEventListener("dragover", dragged);
    document.removeEventListener("drop", dropped);
  };
}

function isHandled({ defaultPrevented, dataTransfer }: DragEvent): boolean {
  return defaultPrevented || dataTransfer?.types.includes("Files") !== true;
}
