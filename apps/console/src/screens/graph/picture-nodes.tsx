import { X } from "lucide-react";
import { cx } from "../../lib/class-names.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import type { Picture } from "./picture.ts";

const s = graphStrings.explore;

interface PictureNodesProps {
  readonly picture: Picture;
  readonly focus: string;
  readonly onChoose: (term: string) => void;
  readonly onClose: ((term: string) => void) | undefined;
}

export function PictureNodes({ picture: { nodes }, focus, onChoose, onClose }: PictureNodesProps) {
  return (
    <details className="rounded-lg border bg-panel p-3 text-sm">
      <summary className="w-fit cursor-pointer rounded font-medium">{s.inPicture(nodes.length)}</summary>
      <ul className="mt-2 flex max-h-60 flex-wrap gap-1.5 overflow-auto p-1">
        {nodes.map(({ id, label, open }) => (
          <li key={id} className="flex max-w-full min-w-0 items-center">
            <button
              type="button"
              title={id}
              aria-current={id === focus}
              className={cx(
                "max-w-64 truncate rounded bg-raised px-2 py-1 text-xs hover:text-brand",
                open && "bg-brand-soft text-brand",
                id === focus && "font-semibold",
              )}
              onClick={() => onChoose(id)}
            >
              {label}
            </button>
            {open && onClose !== undefined && (
              <Button
                look="quiet"
                size="small"
                className="px-1"
                aria-label={`${s.close}: ${label}`}
                onClick={() => onClose(id)}
              >
                <X aria-hidden />
              </Button>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
