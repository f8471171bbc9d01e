import { Page } from "../../ui/panel.tsx";

export function DocumentPage() {
  return <Page title="DocumentPage">…</Page>;
}
