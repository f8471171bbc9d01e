import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

export interface Tab<Value extends string> {
  readonly value: Value;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

interface TabsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly tabs: readonly Tab<Value>[];
  /** Keep it in the URL. */
  readonly onChoose: (value: Value) => void;
}

export function Tabs<Value extends string>({ label, value, tabs, onChoose }: TabsProps<Value>) {
  return (
    <Base.Root value={value} onValueChange={(next) => onChoose(next as Value)} className="flex min-h-0 flex-col gap-4">
      <Base.List aria-label={label} className="flex flex-wrap gap-1 shadow-[inset_0_-1px_var(--line)]">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="border-b-2 border-transparent px-3 py-2 text-sm font-medium whitespace-nowrap text-soft hover:text-ink data-active:border-brand data-active:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel key={tab.value} value={tab.value} className="min-h-0 outline-hidden">
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
