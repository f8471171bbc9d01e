/** Metadata conditions, as rows or as JSON. The JSON text is authoritative; the rows edit it. */
import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { searchStrings } from "../../strings/search.ts";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { filterTextOf, operators, rowsOf, type FilterRow } from "./filter-rows.ts";
import { FilterError, parseFilter } from "./search-state.ts";

const s = searchStrings.filter;
const blank: FilterRow = { field: "", operator: "eq", value: "" };
const operatorChoices = operators.map((value) => ({ value, label: s.operators[value] }));
const truthChoices = [
  { value: "true", label: s.yes },
  { value: "false", label: s.no },
] as const;

interface FilterBuilderProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onRun: (text: string) => void;
  /** Known metadata fields. */
  readonly fields: readonly string[];
}

export function FilterBuilder({ text, onChange, onRun, fields }: FilterBuilderProps) {
  const [rows, setRows] = useState<{ readonly of: string; readonly rows: readonly FilterRow[] | undefined }>({
    of: text,
    rows: readRows(text),
  });
  const [raw, setRaw] = useState(false);
  // Changed from outside, such as by browser navigation: resets the rows. While typing, the rows are ahead of the text.
  if (rows.of !== text) setRows({ of: text, rows: readRows(text) });
  const change = (next: readonly FilterRow[]) => {
    const made = filterTextOf(next);
    setRows({ of: made, rows: next });
    onChange(made);
  };
  const asJson = raw || rows.rows === undefined;
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-xs font-medium text-soft">{s.title}</legend>
      {asJson ? (
        <CodeEditor
          label={s.json}
          language="json"
          value={text}
          onChange={onChange}
          onRun={onRun}
          className="min-h-16"
        />
      ) : (
        <Rows rows={rows.rows ?? []} onChange={change} fields={fields} />
      )}
      <div className="flex flex-wrap items-center gap-2">
        {!asJson && (
          <Button size="small" onClick={() => change([...(rows.rows ?? []), blank])}>
            <Plus aria-hidden />
            {s.add}
          </Button>
        )}
        <Button
          size="small"
          look={asJson ? "plain" : "quiet"}
          className={asJson ? "bg-brand-soft text-brand" : ""}
          aria-pressed={asJson}
          disabled={rows.rows === undefined}
          onClick={() => setRaw(!raw)}
        >
          {s.asJson}
        </Button>
        {rows.rows === undefined && <p className="text-xs text-soft">{isJson(text) ? s.tooMuch : s.notJson}</p>}
      </div>
    </fieldset>
  );
}

interface RowsProps {
  readonly rows: readonly FilterRow[];
  readonly onChange: (rows: readonly FilterRow[]) => void;
  readonly fields: readonly string[];
}

function Rows({ rows, onChange, fields }: RowsProps) {
  const listId = useId();
  const put = (index: number, part: Partial<FilterRow>) =>
    onChange(rows.map((row, i) => (i === index ? { ...row, ...part } : row)));
  return (
    <>
      <ul className="flex flex-col gap-2 empty:hidden">
        {rows.map((row, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- rows have no identity but their index
          <li
            key={index}
            className="grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2 sm:grid-cols-[minmax(0,1fr)_9rem_minmax(0,1fr)_auto]"
          >
            <TextField
              label={s.field(index + 1)}
              labelHidden
              placeholder={s.fieldExample}
              list={listId}
              value={row.field}
              onChange={({ target }) => put(index, { field: target.value })}
            />
            <Select
              label={s.operator(index + 1)}
              labelHidden
              value={row.operator}
              choices={operatorChoices}
              onChoose={(operator) => put(index, { operator, ...(operator === "exists" ? { value: "true" } : {}) })}
            />
            {row.operator === "exists" ? (
              <Select
                label={s.value(index + 1)}
                labelHidden
                value={row.value === "false" ? "false" : "true"}
                choices={truthChoices}
                onChoose={(value) => put(index, { value })}
              />
            ) : (
              <TextField
                label={s.value(index + 1)}
                labelHidden
                placeholder={row.operator === "in" || row.operator === "nin" ? s.listExample : s.valueExample}
                value={row.value}
                onChange={({ target }) => put(index, { value: target.value })}
              />
            )}
            <Button
              look="quiet"
              size="icon"
              aria-label={s.remove(index + 1)}
              onClick={() => onChange(rows.filter((_, i) => i !== index))}
            >
              <X aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
      <datalist id={listId}>
        {fields.map((field) => (
          <option key={field} value={field} />
        ))}
      </datalist>
    </>
  );
}

function readRows(text: string): readonly FilterRow[] | undefined {
  try {
    return rowsOf(parseFilter(text));
  } catch (error) {
    if (error instanceof FilterError) return undefined;
    throw error;
  }
}

function isJson(text: string): boolean {
  try {
    parseFilter(text);
    return true;
  } catch {
    return false;
  }
}
