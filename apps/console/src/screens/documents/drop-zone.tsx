/**
 * A drop zone for files around its content. A button opens the native file picker, for keyboards and phones.
 */
import { Upload } from "lucide-react";
import { useRef, useState, type DragEvent, type ReactNode } from "react";
import { cx } from "../../lib/class-names.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Button } from "../../ui/button.tsx";
import { toast } from "../../ui/toast.tsx";

const s = documentStrings.drop;

interface DropZoneProps {
  readonly onFiles: (files: readonly File[]) => void;
  readonly disabled?: boolean;
  /** Why uploads are disabled. */
  readonly why?: string | undefined;
  /** Accepted types; by default those of all collections. */
  readonly limits?: string | undefined;
  readonly children?: ReactNode;
}

export function DropZone({ onFiles, disabled = false, why, limits = s.limits, children }: DropZoneProps) {
  const [over, setOver] = useState(false);
  const dragged = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    // Otherwise the browser would open the file.
    event.preventDefault();
    event.dataTransfer.dropEffect = disabled ? "none" : "copy";
    setOver(!disabled);
  };
  const left = (event: DragEvent<HTMLElement>) => {
    if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setOver(false);
  };
  const dropped = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const files = filesOf(event.dataTransfer);
    if (!disabled && files.length > 0) onFiles(files);
  };
  return (
    <section
      aria-label={s.label}
      data-drop-zone
      onDragOver={dragged}
      onDragLeave={left}
      onDrop={dropped}
      className={cx(
        "flex w-full min-w-0 flex-col gap-4 rounded-lg",
        over && "ring-2 ring-brand ring-offset-4 ring-offset-page",
      )}
    >
      <div
        className={cx(
          "flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-dashed bg-panel p-4",
          over && "border-brand bg-brand-soft",
        )}
      >
        <Upload className="size-5 text-soft" aria-hidden />
        <p className="text-sm">
          <span className="font-medium">{over ? s.over : s.drop}</span> {s.or}
        </p>
        <ChooseFiles onFiles={onFiles} disabled={disabled} />
        <p className="min-w-0 text-xs text-soft">{why ?? limits}</p>
      </div>
      {children}
    </section>
  );
}

function ChooseFiles({ onFiles, disabled }: Required<Pick<DropZoneProps, "onFiles" | "disabled">>) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button size="small" disabled={disabled} onClick={() => input.current?.click()}>
        {s.choose}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        className="hidden"
        aria-label={s.choose}
        disabled={disabled}
        onChange={({ target }) => {
          const files = [...(target.files ?? [])];
          // Allows choosing the same file again.
          target.value = "";
          if (files.length > 0) onFiles(files);
        }}
      />
    </>
  );
}

function filesOf(data: DataTransfer): readonly File[] {
  const entries = [...data.items].filter(({ kind }) => kind === "file");
  const folders = entries.filter((entry) => entry.webkitGetAsEntry()?.isDirectory === true);
  if (folders.length > 0) toast(s.folders);
  return entries.filter((entry) => !folders.includes(entry)).flatMap((entry) => entry.getAsFile() ?? []);
}
