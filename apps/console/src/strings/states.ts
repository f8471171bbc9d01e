export const stateStrings = {
  loading: "Loading …",
  retry: "Try again",
  failed: "That did not work",
  notFound: "There is no such thing here, or it is not for you",
  forbidden: "You may not do this",
  conflict: "It was changed in the meantime",
  unreachableTitle: "The server does not answer",
  unreachable: "The page goes on by itself as soon as it does.",
  notSent:
    "This was not sent, or its answer was lost. Try again when the connection is back; the page does not do it by itself.",
  pageMissing: "This page is not here yet",
  partGone:
    "A part of this page could not be loaded. Load the page anew; if that does not help, the server has a page that is not whole.",
  answered: (status: number) => `The server answered ${status}.`,
  requestId: (id: string) => `Request ${id}`,
} as const;
