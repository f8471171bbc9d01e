import { Page } from "../../ui/panel.tsx";

export function MetricsPage() {
  return <Page title="MetricsPage">…</Page>;
}
