import { CSPProvider } from "@base-ui/react/csp-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect } from "react";
import { Toasts, toast } from "../ui/toast.tsx";
import { queryClient } from "./query-client.ts";
import { router } from "./router.tsx";
import { shellStrings } from "../strings/shell.ts";

export function App() {
  useEffect(() => catchStrayDrops(), []);
  return (
    // The CSP allows no inline styles: the headless components must not add any.
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider>
          <RouterProvider router={router} />
          <Toasts />
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  );
}

const s = shellStrings.drops;

/**
 * A file dropped outside a drop zone: the browser would leave the page and open it. The drop is prevented, with a notification. Drop
 * zones handle their own drops and mark them as handled.
 */
function catchStrayDrops(): () => void {
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
