/** The choice of a time range; two dates appear when none of the named ones will do. */
import { metricStrings } from "../../strings/metrics.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { dateParam, rangeNames, type RangeSearch } from "./range.ts";

const s = metricStrings.range;

interface RangeFieldsProps {
  readonly search: RangeSearch;
  readonly onChange: (next: RangeSearch) => void;
}

export function RangeFields({ search: { range = "week", from, to }, onChange }: RangeFieldsProps) {
  return (
    <>
      <Select
        label={s.label}
        className="w-40"
        value={range}
        choices={rangeNames.map((value) => ({ value, label: s[value] }))}
        onChoose={(next) => onChange({ range: next, ...(next === "custom" ? { from, to } : { from: undefined, to: undefined }) })}
      />
      {range === "custom" && (
        <>
          <TextField
            className="w-40"
            type="date"
            label={s.from}
            value={from ?? ""}
            onChange={({ target }) => onChange({ range, to, from: dateParam(target.value) })}
          />
          <TextField
            className="w-40"
            type="date"
            label={s.to}
            value={to ?? ""}
            onChange={({ target }) => onChange({ range, from, to: dateParam(target.value) })}
          />
        </>
      )}
    </>
  );
}
