import { Page } from "../../ui/panel.tsx";

export function AuditPage() {
  return <Page title="AuditPage">…</Page>;
}
