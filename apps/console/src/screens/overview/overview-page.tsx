/** Health, alarms, metrics and storage of the server and the workspace. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useConnected } from "../../api/connection.ts";
import { infoOptions, readinessOptions } from "../../api/health.ts";
import { meOptions } from "../../api/identity.ts";
import { alarmsOptions, deletionLagOptions } from "../../api/operations.ts";
import { queuesOptions } from "../../api/queues.ts";
import { statsOptions, statsRanges } from "../../api/stats.ts";
import { overviewStrings as s } from "../../strings/overview.ts";
import { Select } from "../../ui/field.tsx";
import { Page } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { ActivityCharts } from "./activity-charts.tsx";
import { AlarmList } from "./alarm-list.tsx";
import { alarmsOf } from "./alarms.ts";
import { Engines } from "./engines.tsx";
import { StorageBars } from "./storage-bars.tsx";
import { Tiles } from "./tiles.tsx";

const route = getRouteApi("/shell/overview");

export function OverviewPage() {
  const { range = "1h" } = route.useSearch();
  const navigate = route.useNavigate();
  const role = useQuery(meOptions).data?.role;
  const isAdmin = role === "admin";
  const connected = useConnected();
  const readiness = useQuery(readinessOptions);
  const info = useQuery(infoOptions);
  const queues = useQuery(queuesOptions(isAdmin));
  const lag = useQuery(deletionLagOptions(isAdmin));
  const states = useQuery(alarmsOptions(isAdmin));
  const alarms = alarmsOf({ readiness: readiness.data, queues: queues.data, states: states.data });
  const failed = [readiness, info, queues, lag, states].find(({ error, data }) => error !== null && data === undefined);
  return (
    <Page
      title={s.title}
      about={s.about}
      actions={
        <Select
          label={s.range}
          labelHidden
          value={range}
          choices={statsRanges.map((value) => ({ value, label: s.ranges[value] }))}
          onChoose={(next) => void navigate({ search: (old) => ({ ...old, range: next }), replace: true })}
        />
      }
    >
      {failed !== undefined && <ErrorBox error={failed.error} onRetry={() => void failed.refetch()} />}
      <AlarmList
        alarms={alarms}
        loading={!connected || readiness.isPending || queues.isLoading || states.isLoading}
        complete={isAdmin && failed === undefined}
      />
      <Tiles readiness={readiness.data} info={info.data} queues={queues.data} lag={lag.data} ofWorkspace={isAdmin} />
      <Activity range={range} allowed={role !== undefined && role !== "user"} />
      <div className="grid gap-4 lg:grid-cols-2">
        <StorageBars />
        {info.data !== undefined && <Engines info={info.data} />}
      </div>
    </Page>
  );
}

function Activity({ range, allowed }: { readonly range: (typeof statsRanges)[number]; readonly allowed: boolean }) {
  const stats = useQuery(statsOptions(range, allowed));
  if (!allowed) return <p className="text-sm text-soft">{s.adminsOnly}</p>;
  if (stats.data !== undefined) return <ActivityCharts stats={stats.data} range={range} />;
  return stats.error === null ? <Loading /> : <ErrorBox error={stats.error} onRetry={() => void stats.refetch()} />;
}
