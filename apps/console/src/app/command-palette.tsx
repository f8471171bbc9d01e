/** Ctrl+K: go to any page or collection. Its list is loaded on first use. */
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { shellStrings } from "../strings/shell.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { lazyPart } from "../ui/lazy-part.tsx";

const s = shellStrings.palette;
const PaletteList = lazyPart(async () => (await import("./palette-list.tsx")).default);

export function CommandPalette() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen((was) => !was);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <>
      <Button className="min-w-0 text-soft sm:min-w-56" onClick={() => setOpen(true)}>
        <Search aria-hidden />
        {s.open}
        <kbd className="ml-auto hidden rounded border px-1 font-sans text-xs sm:inline">{s.shortcut}</kbd>
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title={s.title}>
        <PaletteList onChosen={() => setOpen(false)} />
      </Dialog>
    </>
  );
}
