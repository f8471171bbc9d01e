import type { MigrationUnit } from "@pinakes/client";
import { formatNumber } from "../../lib/format.ts";
import { migrationStrings } from "../../strings/migrations.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/panel.tsx";
import { targetOf } from "./unit-words.ts";

const s = migrationStrings.units;

export function UnitSheet({ unit, onClose }: { readonly unit: MigrationUnit; readonly onClose: () => void }) {
  const { name, target, count, hash, held_count, held_hash, differences, problems } = unit;
  const mono = (text: string | null) => <code className="font-mono text-xs break-all">{text ?? "–"}</code>;
  return (
    <Dialog open onClose={onClose} title={name} about={targetOf(target)} place="side">
      <div className="flex flex-col gap-5">
        <Facts
          of={[
            [s.distinct, formatNumber(count)],
            [s.held, held_count === null ? s.notCompared : formatNumber(held_count)],
            [s.hash, mono(hash)],
            [s.heldHash, mono(held_hash)],
          ]}
        />
        <section>
          <h2 className="mb-1 text-sm font-semibold">{s.differences}</h2>
          <p className="text-sm break-words whitespace-pre-wrap">{differences ?? s.noDifferences}</p>
        </section>
        {problems.length > 0 && (
          <section>
            <h2 className="mb-1 text-sm font-semibold">{s.columns.problems}</h2>
            <Facts of={problems.map(({ where, reason }, index) => [`${index + 1}. ${where}`, reason])} />
          </section>
        )}
      </div>
    </Dialog>
  );
}
