import { Page } from "../../ui/panel.tsx";

export function GraphPage() {
  return <Page title="GraphPage">…</Page>;
}
