/** Who may see what, who did what, and what is gone. */
export * from "./audit-log/index.ts";
