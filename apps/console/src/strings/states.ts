export const stateStrings = {
  loading: "Loading …",
  retry: "Try again",
  failed: "That did not work",
  notFound: "There is no such thing here, or it is not for you",
  forbidden: "You may not do this",
  conflict: "It was changed in the meantime",
  unreachableTitle: "The server does not answer",
  unreachable: "The page goes on by itself as soon as it does.",
  answered: (status: number) => `The server answered ${status}.`,
  requestId: (id: string) => `Request ${id}`,
} as const;
