import { metricStrings } from "../../strings/metrics.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { customDaysMax, dateParam, isShortened, rangeNames, type RangeSearch } from "./range.ts";

const s = metricStrings.range;

interface RangeFieldsProps {
  readonly search: RangeSearch;
  /** Passes only the change: two may occur before the next render. */
  readonly onChange: (next: RangeSearch) => void;
}

export function RangeFields({ search, onChange }: RangeFieldsProps) {
  const { range = "week", from, to } = search;
  return (
    <>
      <Select
        label={s.label}
        className="w-40"
        value={range}
        choices={rangeNames.map((value) => ({ value, label: s[value] }))}
        onChoose={(next) =>
          onChange(next === "custom" ? { range: next } : { range: next, from: undefined, to: undefined })
        }
      />
      {range === "custom" && (
        <>
          <TextField
            className="w-40"
            type="date"
            label={s.from}
            value={from ?? ""}
            onChange={({ target }) => onChange({ from: dateParam(target.value) })}
          />
          <TextField
            className="w-40"
            type="date"
            label={s.to}
            value={to ?? ""}
            onChange={({ target }) => onChange({ to: dateParam(target.value) })}
          />
          {isShortened(search, Date.now()) && (
            <p role="status" className="basis-full text-xs text-warn">
              {s.shortened(customDaysMax)}
            </p>
          )}
        </>
      )}
    </>
  );
}
