import type { ServerStatus } from "@pinakes/client";
import { overviewStrings } from "../../strings/overview.ts";
import { Badge } from "../../ui/badge.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";

const s = overviewStrings.engines;

export function Engines({ info }: { readonly info: ServerStatus }) {
  const { version, database, items, objects, queue, triples, models } = info;
  return (
    <Panel title={s.title} actions={<Badge>{overviewStrings.scopes.server}</Badge>}>
      <Facts
        of={[
          [s.version, version],
          [s.database, database],
          [s.items, <Engine key="items" name={s.reads(items.engine, items.index_reads)} durable={items.durable} />],
          [s.objects, <Engine key="objects" name={objects.driver} durable={objects.durable} />],
          [s.queue, <Engine key="queue" name={queue.driver} durable={queue.durable} />],
          [s.triples, <Engine key="triples" name={s.reads(triples.engine, triples.reads)} durable={triples.durable} />],
          [
            s.models,
            models.length === 0 ? s.noModels : models.map(({ id, provider }) => `${id} (${provider})`).join(", "),
          ],
        ]}
      />
    </Panel>
  );
}

/** Non-durable stores lose data when the process ends. */
function Engine({ name, durable }: { readonly name: string; readonly durable: boolean }) {
  return (
    <>
      {name} {!durable && <Badge tone="warn">{s.notDurable}</Badge>}
    </>
  );
}
