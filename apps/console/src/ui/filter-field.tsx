import { useEffect, useEffectEvent, useRef, useState } from "react";
import { TextField } from "./field.tsx";

interface FilterFieldProps {
  readonly label: string;
  /** The value in the URL. */
  readonly value: string | undefined;
  /** Undefined if empty or only spaces. */
  readonly onFilter: (value: string | undefined) => void;
  readonly className?: string;
}

const restMs = 250;

/** A text filter. Applied after a pause in typing or on Enter, not on every keystroke. */
export function FilterField({ label, value = "", onFilter, className = "" }: FilterFieldProps) {
  const [typed, setTyped] = useState(value);
  const wanted = typed.trim();
  const sent = useRef(value);
  const apply = () => {
    sent.current = wanted;
    onFilter(wanted === "" ? undefined : wanted);
  };
  const rested = useEffectEvent(apply);
  // Changed from outside, such as by a link. An echo of earlier input must not overwrite newer keystrokes.
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
