import { WifiOff } from "lucide-react";
import { useConnected } from "../api/connection.ts";
import { shellStrings as s } from "../strings/shell.ts";

export function ConnectionBanner() {
  const connected = useConnected();
  return (
    <div role="status">
      {!connected && (
        <p className="flex items-center gap-2 bg-warn-soft px-4 py-2 text-sm font-medium text-warn">
          <WifiOff className="size-4" aria-hidden />
          {s.connection.lost}
        </p>
      )}
    </div>
  );
}
