import { Page } from "../../ui/panel.tsx";

export function ToolsPage() {
  return <Page title="ToolsPage">…</Page>;
}
