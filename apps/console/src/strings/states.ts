export const stateStrings = {
  loading: "Loading …",
  retry: "Retry",
  failed: "Something went wrong",
  notFound: "Not found, or you don't have access",
  forbidden: "Permission denied",
  conflict: "Changed since you loaded it",
  unreachableTitle: "The server is unreachable",
  unreachable: "Reconnects automatically.",
  notSent: "The request failed or its response was lost. Retry once reconnected; it is not retried automatically.",
  pageMissing: "Not available yet",
  partGone:
    "Part of this page could not be loaded. Reload the page; if that does not help, the server's console files are incomplete.",
  answered: (status: number) => `The server responded with ${status}.`,
  requestId: (id: string) => `Request ${id}`,
} as const;
