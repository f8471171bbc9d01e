import { CSPProvider } from "@base-ui/react/csp-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useEffect } from "react";
import { Toasts } from "../ui/toast.tsx";
import { queryClient } from "./query-client.ts";
import { router } from "./router.tsx";
import { catchStrayDrops } from "./stray-drops.ts";

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
