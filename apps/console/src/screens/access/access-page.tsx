import { Page } from "../../ui/panel.tsx";

export function AccessPage() {
  return <Page title="AccessPage">…</Page>;
}
