import { useEffect, useEffectEvent, useRef, useState } from "react";
import { TextField } from "./field.tsx";

interface FilterFieldProps {
  readonly label: string;
  /** As the address of the page has it. */
  readonly value: string | undefined;
  /** Undefined: nothing was typed, or only spaces. */
  readonly onFilter: (value: string | undefined) => void;
  readonly className?: string;
}

const restMs = 250;

/** A text that narrows a list. It is applied when the typing rests or by Enter, not at every letter. */
export function FilterField({ label, value = "", onFilter, className = "" }: FilterFieldProps) {
  const [typed, setTyped] = useState(value);
  const wanted = typed.trim();
  const sent = useRef(value);
  const apply = () => {
    sent.current = wanted;
    onFilter(wanted === "" ? undefined : wanted);
  };
  const rested = useEffectEvent(apply);
  // From elsewhere, such as a link. What comes back of the typing itself must not undo a letter that was typed since.
  useEffect(() => {
    if (value !== sent.current) setTyped(value);
    sent.current = value;
  }, [value]);
  useEffect(() => {
    if (wanted === value) return;
    const timer = setTimeout(() => rested(), restMs);
    return () => clearTimeout(timer);
  }, [wanted, value]);
  return (
    <TextField
      type="search"
      label={label}
      className={className}
      value={typed}
      onChange={({ target }) => setTyped(target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        apply();
      }}
    />
  );
}
