/**
 * A file that is dropped beside the place for files: the browser would leave the page and open it. It is caught, and the reader is told.
 * Places for files handle their own drops; those come here as already handled.
 */
import { shellStrings } from "../strings/shell.ts";
import { toast } from "../ui/toast.tsx";

const s = shellStrings.drops;

export function catchStrayDrops(): () => void {
  const dragged = (event: DragEvent) => {
    // An editor takes files as text, and only when nobody forbids it.
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
